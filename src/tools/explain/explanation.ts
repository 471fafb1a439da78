import type { BlockType } from '../../format/block-type.ts';

/** What one look-up in one table does, in order: what `explain` prints. Keys and bytes as they are. */
export interface Explanation {
  readonly path: string;
  readonly key: Uint8Array;
  readonly steps: readonly Step[];
  readonly verdict: Verdict;
}

export interface Step {
  readonly step: StepName;
  /** Bytes of the file that are touched, trailer included; undefined where none are. */
  readonly range?: ByteRange;
  /** One sentence: what is read, and what it says. */
  readonly text: string;
  /** Numbers and names, for programs. */
  readonly facts?: Readonly<Record<string, string | number | boolean | null>>;
  /** Each key that the target was compared with, in order. */
  readonly comparisons?: readonly Comparison[];
  /** Each bit or column of a filter that was asked for. */
  readonly probes?: readonly Probe[];
  /** Entries of a data block that were read on the way. */
  readonly entries?: readonly PassedEntry[];
}

export type StepName =
  | 'footer'
  | 'metaindex'
  | 'properties'
  | 'range_del'
  | 'filter_index'
  | 'filter'
  | 'index'
  | 'index_partition'
  | 'compression_dict'
  | 'data';

export interface ByteRange {
  readonly type: BlockType;
  readonly offset: number;
  /** Payload and trailer. */
  readonly size: number;
  readonly compression: string | null;
  /** Uncompressed. */
  readonly rawSize: number | null;
  /** Null: there is none to compare. */
  readonly checksumHolds: boolean | null;
}

export interface Comparison {
  /** User key of what stands in the block, without timestamp. */
  readonly key: Uint8Array;
  /** Empty where keys have none. */
  readonly timestamp: Uint8Array;
  /** Whether it comes before the target, is at it, or behind. */
  readonly order: 'before' | 'same' | 'behind';
}

export interface Probe {
  /** Bit of the filter's bytes, or column of a Ribbon filter. */
  readonly bit: number;
  readonly isSet: boolean;
}

export interface PassedEntry {
  /** In the uncompressed block. */
  readonly offset: number;
  readonly key: Uint8Array;
  readonly timestamp: Uint8Array;
  /** The one that counts. */
  readonly seqno: bigint;
  readonly type: string;
}

/** Why the key is there, or not. */
export interface Verdict {
  readonly code:
    | 'found'
    | 'merge'
    | 'deleted'
    | 'range_deleted'
    | 'filter_denies'
    | 'behind_last_key'
    | 'not_in_block'
    | 'newer_than_read'
    | 'damage'
    | 'unsupported';
  readonly text: string;
  readonly seqno: bigint | null;
  readonly type: string | null;
  readonly coveredBy: bigint | null;
  readonly bytesRead: number;
}
