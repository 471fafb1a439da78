/**
 * Collects properties that the application wants in its tables, as RocksDB's TablePropertiesCollector does.
 * One object serves one table.
 */
export interface PropertyCollector {
  /** Recorded in property `rocksdb.property.collectors`. */
  readonly name: string;
  /** Every entry, range tombstones included (their value is the end key): internal key and value. */
  add(
    key: Uint8Array,
    keyStart: number,
    keyEnd: number,
    value: Uint8Array,
    valueStart: number,
    valueEnd: number,
  ): void;
  /** Names and raw values. */
  finish(): Iterable<readonly [string, Uint8Array]>;
}
