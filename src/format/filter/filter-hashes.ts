/** XXPH3 hashes of keys in order of adding, without repetitions, and the filters that are made of them. */
export interface FilterHashes {
  /** As those of FilterBuilder. */
  addKey(bytes: Uint8Array, start: number, end: number): void;
  addKeyAndPrefix(bytes: Uint8Array, start: number, prefixEnd: number, end: number): void;
  addHash(lo: number, hi: number): void;
  readonly entries: number;
  hasEntries(count: number): boolean;
  /** Hash i: low half in `[2 * i]`, high half in `[2 * i + 1]`. Good until the next key; there may be more behind. */
  readonly hashes: Uint32Array;
  /** High half of the first hash, 0 where there is none. */
  readonly firstHigh: number;
  /** The FastLocalBloom filter with `dataBytes` bytes of data, a multiple of 64; of one hash at least. */
  fillBloom(dataBytes: number, probes: number): Uint8Array;
  /** The Ribbon filter with that many slots and `dataBytes` bytes of data. Undefined when no seed works. */
  solveRibbon(slots: number, dataBytes: number): Uint8Array | undefined;
  /** Forgets all; the space is kept for the next filter. */
  reset(): void;
}
