import type { DropReason } from '../../engine/compaction/compaction-iterator.ts';
import type { SstError } from '../../errors.ts';
import type { Finding } from '../finding.ts';

/** An entry that is not written, for whoever wants to know each. */
export interface DroppedEntry {
  readonly path: string;
  /** Without timestamp; a view, valid during the call. */
  readonly userKey: Uint8Array;
  readonly seqno: string;
  readonly type: string;
  readonly reason: DropReason;
  /** The sequence number of what made it superfluous; undefined where nothing has one. */
  readonly by: string | undefined;
}

export interface CompactEvents {
  finding(path: string, finding: Finding): void;
  failure(error: SstError): void;
  /** Something that the user should know; `warning` counts even with `--quiet`. */
  note(text: string): void;
  warning(text: string): void;
  skipped(paths: readonly string[]): void;
  progress(doneBytes: number, totalBytes: number): void;
  /** Left out where nobody wants to know. */
  dropped?(entry: DroppedEntry): void;
}

export interface CompactedInput {
  readonly path: string;
  /** Point entries and range tombstones. */
  readonly entries: number;
  readonly bytes: number;
}
