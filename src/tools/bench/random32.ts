import { MUL_HIGH_SMALL_MAX, mulHigh32, mulHighSmall } from '../../bytes/u64.ts';

const SIZE = 624;
const SHIFT = 397;

/**
 * RocksDB's Random32: the 32-bit Mersenne Twister (Matsumoto and Nishimura, 1998), the same numbers for the same
 * seed, so that a bench of ours builds the filters, and asks the keys, of RocksDB's.
 */
export class Random32 {
  private readonly state = new Int32Array(SIZE);
  private next = SIZE;

  constructor(seed: number) {
    this.seed(seed);
  }

  seed(seed: number): void {
    const { state } = this;
    state[0] = seed;
    for (let i = 1; i < SIZE; i++) {
      const last = state[i - 1]!;
      state[i] = Math.imul(last ^ (last >>> 30), 1812433253) + i;
    }
    this.next = SIZE;
  }

  /** Uniform over 32 bits, as uint32. */
  uint32(): number {
    if (this.next === this.state.length) this.twist();
    let y = this.state[this.next++]!;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  /**
   * Below `bound` (uint32), by the high half of a product: nearly uniform, where the exact draw (remainders, and
   * numbers that are thrown away) takes more than twice as long.
   */
  below(bound: number): number {
    const drawn = this.uint32();
    return bound <= MUL_HIGH_SMALL_MAX ? mulHighSmall(drawn, bound) : mulHigh32(drawn, bound);
  }

  private twist(): void {
    const { state } = this;
    // Each word is made of itself, the next one and the one SHIFT further on; no remainder where none is needed.
    for (let i = 0; i < SIZE - SHIFT; i++) {
      state[i] = state[i + SHIFT]! ^ mixed(state[i]!, state[i + 1]!);
    }
    for (let i = SIZE - SHIFT; i < SIZE - 1; i++) {
      state[i] = state[i + SHIFT - SIZE]! ^ mixed(state[i]!, state[i + 1]!);
    }
    state[SIZE - 1] = state[SHIFT - 1]! ^ mixed(state[SIZE - 1]!, state[0]!);
    this.next = 0;
  }
}

function mixed(word: number, next: number): number {
  const y = (word & 0x80000000) | (next & 0x7fffffff);
  return (y >>> 1) ^ (-(y & 1) & 0x9908b0df);
}
