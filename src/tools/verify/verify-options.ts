import type { Environment } from '../../engine/environment.ts';
import type { FileKind } from '../../format/file-kind.ts';
import type { OpenTableOptions } from '../../format/table-reader.ts';
import type { KeyHash } from '../../hash/key-hash.ts';
import type { Finding } from '../finding.ts';
import type { TableObserver } from './table-observer.ts';

/** Filters are asked with the hash of keys. */
export interface VerifyEnvironment extends Environment {
  readonly keyHash: KeyHash;
}

export interface VerifyOptions extends OpenTableOptions {
  /** Only block checksums and what is needed to find the blocks: contents are not decompressed. Default: false. */
  readonly checksumsOnly?: boolean;
  /** Compare the order of keys. Default: true. */
  readonly order?: boolean;
  /** Findings that are kept of one file. Default: 1000. */
  readonly maxFindings?: number;
  /** Stop at the first damage. Default: false. */
  readonly strict?: boolean;
  /** Bytes that the search for flipped bits may hash in one file. Default: 1 GiB, about a second. */
  readonly shapeBudgetBytes?: number;
}

export interface VerifyTableOptions extends VerifyOptions {
  /** Sees what the table holds. Default: none. */
  readonly observer?: TableObserver | undefined;
}

export const DEFAULT_MAX_FINDINGS = 1000;

export type FileStatus = 'ok' | 'damaged' | 'unreadable' | 'unsupported';

/** Everything that is known of one file. */
export interface FileReport {
  /** As reports name it. */
  readonly path: string;
  readonly kind: FileKind;
  readonly status: FileStatus;
  /** Null where there is no footer to say it. */
  readonly formatVersion: number | null;
  readonly bytes: number;
  /** Blocks checked, of all kinds. */
  readonly blocks: number;
  /** Point entries and range tombstones that were read; 0 where only checksums were compared. */
  readonly entries: number;
  readonly findings: readonly Finding[];
  /** Findings beyond `maxFindings`. */
  readonly findingsOmitted: number;
}

export interface TableCounts {
  blocks: number;
  entries: number;
}
