/** A seeded random source for tests; the seed stands in the name of each test that uses it. */
export class SeededRandom {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** Uniform over 32 bits (mulberry32). */
  uint32(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }

  /** A whole number from 0 to, exclusive, `bound`. */
  below(bound: number): number {
    return Math.floor((this.uint32() / 2 ** 32) * bound);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  chance(probability: number): boolean {
    return this.uint32() < probability * 2 ** 32;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.uint32() & 0xff);
  }
}

/** Draws of `below`, as a function. */
export function stream(seed: number): (below: number) => number {
  const random = new SeededRandom(seed);
  return (below) => random.below(below);
}

/** Multiplies the repetitions of seeded tests: 1 in a plain run, more where time allows. */
export const TEST_SCALE = Math.max(1, Number(process.env.SSTKIT_TEST_SCALE ?? '1') || 1);
