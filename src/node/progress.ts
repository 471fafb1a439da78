/** Progress on stderr: bytes done, total, rate, time left. Nothing appears before the work has taken a second. */

import type { SingleBar } from 'cli-progress';

export type ProgressMode = 'none' | 'bar' | 'json';

export interface ProgressOptions {
  /** Default: `bar` when stderr is a terminal, else `none`. A bar asked for without a terminal is none. */
  mode?: ProgressMode | undefined;
  totalBytes: number;
}

export interface Progress {
  /** Bytes done since the start; call it once a batch. Costs one look at the clock. */
  update(doneBytes: number): void;
  /** Takes the bar away. Safe to call twice; call it before any other line goes to stderr. */
  finish(): void;
}

/** What one report says. Rates are means since the start. */
export interface ProgressReport {
  doneBytes: number;
  totalBytes: number;
  bytesPerSecond: number;
  /** null as long as nothing is done. */
  secondsLeft: number | null;
}

const QUIET_MS = 1000;
const JSON_INTERVAL_MS = 1000;

const SILENT: Progress = { update: () => undefined, finish: () => undefined };

export function openProgress({ mode, totalBytes }: ProgressOptions): Progress {
  const isTerminal = process.stderr.isTTY === true;
  switch (mode ?? 'bar') {
    case 'none':
      return SILENT;
    case 'bar':
      return isTerminal ? new BarProgress(totalBytes) : SILENT;
    case 'json':
      return new JsonProgress(totalBytes);
  }
}

export function progressReport(doneBytes: number, totalBytes: number, elapsedMs: number): ProgressReport {
  const bytesPerSecond = elapsedMs > 0 ? Math.round((doneBytes * 1000) / elapsedMs) : 0;
  const leftBytes = Math.max(0, totalBytes - doneBytes);
  const secondsLeft = bytesPerSecond > 0 ? Math.ceil(leftBytes / bytesPerSecond) : null;
  return { doneBytes, totalBytes, bytesPerSecond, secondsLeft };
}

/** One object a line and a second. */
class JsonProgress implements Progress {
  private readonly startMs = performance.now();
  private nextMs = this.startMs + QUIET_MS;

  constructor(private readonly totalBytes: number) {}

  update(doneBytes: number): void {
    const nowMs = performance.now();
    if (nowMs < this.nextMs) return;
    this.nextMs = nowMs + JSON_INTERVAL_MS;
    const report = progressReport(doneBytes, this.totalBytes, nowMs - this.startMs);
    process.stderr.write(`${JSON.stringify({ progress: report })}\n`);
  }

  finish(): void {
    this.nextMs = Number.POSITIVE_INFINITY;
  }
}

class BarProgress implements Progress {
  private readonly startMs = performance.now();
  private bar: SingleBar | undefined;
  private state: 'waiting' | 'loading' | 'shown' | 'finished' = 'waiting';

  constructor(private readonly totalBytes: number) {}

  update(doneBytes: number): void {
    if (this.state === 'finished') return;
    const elapsedMs = performance.now() - this.startMs;
    if (elapsedMs < QUIET_MS) return;
    if (this.state === 'waiting') {
      this.state = 'loading';
      void this.show();
      return;
    }
    this.bar?.update(doneBytes, barFields(progressReport(doneBytes, this.totalBytes, elapsedMs)));
  }

  finish(): void {
    this.state = 'finished';
    this.bar?.stop();
    this.bar = undefined;
  }

  private async show(): Promise<void> {
    const { default: cliProgress } = await import('cli-progress');
    if (this.state !== 'loading') return;
    this.state = 'shown';
    this.bar = new cliProgress.SingleBar({
      stream: process.stderr,
      format: '{bar} {percentage}% {done} of {all}, {rate}, {left}',
      barCompleteChar: '#',
      barIncompleteChar: '.',
      barsize: 24,
      clearOnComplete: true,
      // Its own handler would keep Ctrl-C from ending the program.
      gracefulExit: false,
    });
    this.bar.start(this.totalBytes, 0, barFields(progressReport(0, this.totalBytes, 0)));
  }
}

function barFields(report: ProgressReport): Record<string, string> {
  return {
    done: formatBytes(report.doneBytes),
    all: formatBytes(report.totalBytes),
    rate: `${formatBytes(report.bytesPerSecond)}/s`,
    left: report.secondsLeft === null ? 'time left unknown' : `${formatSeconds(report.secondsLeft)} left`,
  };
}

/** Bytes in the largest binary unit that keeps the number at 1 or above: `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
