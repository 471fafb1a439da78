import { describe, expect, it } from 'vitest';
import { formatBytes, openProgress, progressReport } from './progress.ts';

describe('progress', () => {
  it('computes rate and time left', () => {
    expect(progressReport(2_000_000, 10_000_000, 2000)).toEqual({
      doneBytes: 2_000_000,
      totalBytes: 10_000_000,
      bytesPerSecond: 1_000_000,
      secondsLeft: 8,
    });
    expect(progressReport(0, 10, 0).secondsLeft).toBeNull();
    expect(progressReport(20, 10, 1000).secondsLeft).toBe(0);
  });

  it('prints bytes in binary units', () => {
    expect([0, 1023, 1024, 1536 * 1024, 3 * 2 ** 40].map(formatBytes)).toEqual([
      '0 B',
      '1023 B',
      '1.0 KiB',
      '1.5 MiB',
      '3.0 TiB',
    ]);
  });

  it('is silent without a terminal', () => {
    const progress = openProgress({ mode: 'none', totalBytes: 10 });
    progress.update(5);
    progress.finish();
    progress.finish();
  });
});
