/** Draws for benches: the same numbers for the same seed, on every machine. */
export class BenchRandom {
  private state: number;
  private spare: number | undefined;

  constructor(seed: number) {
    this.state = (seed ^ 0x9e3779b9) >>> 0;
  }

  /** Uniform over 32 bits. Source: T. Ettinger's mulberry32. */
  uint32(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let bits = this.state;
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return (bits ^ (bits >>> 14)) >>> 0;
  }

  /** Uniform from 0 to, exclusive, `bound`, by multiplication and not by remainder. */
  below(bound: number): number {
    return Math.floor((this.uint32() / 2 ** 32) * bound);
  }

  /** Normally distributed (Box and Muller, two at a time). */
  normal(mean: number, deviation: number): number {
    if (deviation === 0) return mean;
    if (this.spare !== undefined) {
      const value = this.spare;
      this.spare = undefined;
      return mean + deviation * value;
    }
    const radius = Math.sqrt(-2 * Math.log((this.uint32() + 1) / 2 ** 32));
    const angle = (2 * Math.PI * this.uint32()) / 2 ** 32;
    this.spare = radius * Math.sin(angle);
    return mean + deviation * radius * Math.cos(angle);
  }
}
