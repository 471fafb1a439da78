/** Per-call times of blocks of calls, each a batch of its own. */
export class Sampler {
  private readonly samples: number[] = [];
  private totalNanos = 0;
  private calls = 0;

  add(nanos: number, calls: number): void {
    if (calls === 0) return;
    this.samples.push(nanos / calls);
    this.totalNanos += nanos;
    this.calls += calls;
  }

  /** Mean over all calls, in microseconds; null when none was made. */
  get meanMicros(): number | null {
    return this.calls === 0 ? null : this.totalNanos / this.calls / 1000;
  }

  /** Percentiles over the batches, in microseconds. */
  spread(): Spread | null {
    if (this.samples.length === 0) return null;
    const sorted = [...this.samples].sort((a, b) => a - b);
    const at = (fraction: number): number => sorted[Math.round(fraction * (sorted.length - 1))]! / 1000;
    return { median: at(0.5), p10: at(0.1), p90: at(0.9), batches: sorted.length };
  }
}

export interface Spread {
  median: number;
  p10: number;
  p90: number;
  batches: number;
}
