/** A part of a block's contents, of a trailer or of the footer: bytes [start, end) of it. */
export interface Part {
  readonly part: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly entry?: PartEntry | null;
}

/** The entry that a byte belongs to; its key as a user key, or a name. */
export interface PartEntry {
  /** In the uncompressed block; in the file where there are no blocks. */
  readonly offset: number;
  readonly key: Uint8Array;
  readonly seqno: string | null;
  readonly type: string | null;
}
