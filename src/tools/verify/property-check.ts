import type { PropertyName, TableProperties } from '../../format/properties.ts';
import type { Finding } from '../finding.ts';
import type { EntryTotals } from './entry-totals.ts';
import type { FindingLog } from './finding-log.ts';

/** What a table was found to hold, to be compared with what its properties say. */
export interface TableFacts {
  /** Point entries; undefined where not all of them were read. */
  readonly points: EntryTotals | undefined;
  /** Range tombstones; undefined where not all of them were read. */
  readonly tombstones: EntryTotals | undefined;
  /** Data blocks; undefined where not all of them are known, or the table has none. */
  readonly dataBlocks: number | undefined;
  /** End of the last data block with its trailer, and where the first block of another kind begins. */
  readonly dataEnd: number | undefined;
  readonly tailStart: number;
  readonly hasDictionary: boolean;
  /** Bytes of timestamp that were taken off each key before it was stored. */
  readonly strippedTimestampSize: number;
  /** Partitions of a two-level index; undefined for others, or where not all are known. */
  readonly indexPartitions: number | undefined;
  /** Bytes of all filter blocks, top level included, without trailers; undefined where not all are known. */
  readonly filterBytes: number | undefined;
  /** Blocks by compression byte. */
  readonly compressionCounts: Uint32Array;
  readonly formatVersion: number;
}

type Block = NonNullable<Finding['block']>;

/** Compares the properties with the table. Whatever a property does not say is not compared. */
export function checkProperties(
  properties: TableProperties,
  facts: TableFacts,
  block: Block | undefined,
  log: FindingLog,
): void {
  new PropertyCheck(properties, facts, block, log).run();
}

/** Entries that the properties count, range tombstones included; undefined where they do not say. */
export function countedEntries(properties: TableProperties | undefined): number | undefined {
  return properties?.count('rocksdb.num.entries');
}

class PropertyCheck {
  constructor(
    private readonly properties: TableProperties,
    private readonly facts: TableFacts,
    private readonly block: Block | undefined,
    private readonly log: FindingLog,
  ) {}

  run(): void {
    for (const name of this.properties.malformed) {
      this.report('properties_mismatch', 'warning', `property ${name} does not decode: readers pass over it`);
    }
    this.globalSeqno();
    this.blocks();
    this.compression();
    const { points, tombstones } = this.facts;
    if (points === undefined || tombstones === undefined) return;
    this.counts(points, tombstones);
    this.seqnos(points, tombstones);
  }

  private counts(points: EntryTotals, tombstones: EntryTotals): void {
    const count = tombstones.entries;
    const { strippedTimestampSize } = this.facts;
    const old: string[] = [];
    // Releases before 5.18 have no number of range tombstones; some of them left tombstones out of other counts.
    const told = this.properties.count('rocksdb.num.range-deletions');
    if (told === undefined && count > 0) old.push('it has no number of range tombstones');
    else this.expect('rocksdb.num.range-deletions', [count]);
    const both = (name: PropertyName, one: number, other: number, alsoFits: readonly number[] = []): void => {
      const value = this.expect(name, [one + other, ...alsoFits, one]);
      if (value === one && other > 0) old.push(`${name} is ${value} without them`);
    };
    both('rocksdb.num.entries', points.entries, count);
    if (!this.omitsTimestampDeletions(points, count)) both('rocksdb.deleted.keys', points.deletions, count);
    this.expect('rocksdb.merge.operands', [points.merges]);
    both('rocksdb.raw.key.size', points.keyBytes, tombstones.keyBytes);
    // Where timestamps are not stored, the writer counts end keys as they were before.
    both('rocksdb.raw.value.size', points.valueBytes, tombstones.valueBytes, [
      points.valueBytes + tombstones.valueBytes + count * strippedTimestampSize,
    ]);
    if (old.length > 0) {
      this.report(
        'old_range_del_count',
        'note',
        `range tombstones (${count}) are counted as releases before 5.18 did: ${old.join(', ')}`,
      );
    }
  }

  /** Releases before 8 do not count deletes with a timestamp. */
  private omitsTimestampDeletions(points: EntryTotals, tombstoneCount: number): boolean {
    const { deletions, timestampDeletions } = points;
    const stored = this.properties.count('rocksdb.deleted.keys');
    const omitting = deletions - timestampDeletions + tombstoneCount;
    if (timestampDeletions === 0 || stored !== omitting) return false;
    this.report(
      'properties_mismatch',
      'note',
      `property rocksdb.deleted.keys is ${stored}, the table has ${deletions + tombstoneCount}: ` +
        `its writer, an older RocksDB (7.8 is one), leaves out deletes with a timestamp (${timestampDeletions})`,
      String(stored),
      String(deletions + tombstoneCount),
    );
    return true;
  }

  private seqnos(points: EntryTotals, tombstones: EntryTotals): void {
    if (points.entries + tombstones.entries === 0) return;
    const bounds = [
      ['rocksdb.key.smallest.seqno', Math.min(points.smallestSeqno, tombstones.smallestSeqno)],
      ['rocksdb.key.largest.seqno', Math.max(points.largestSeqno, tombstones.largestSeqno)],
    ] as const;
    for (const [name, computed] of bounds) {
      const stored = this.properties.count(name);
      if (stored === undefined || stored === computed) continue;
      this.report(
        'seqno_bounds',
        'damage',
        `property ${name} is ${stored}, the entries say ${computed}`,
        String(stored),
        String(computed),
      );
    }
  }

  private blocks(): void {
    const { dataBlocks, dataEnd, tailStart, indexPartitions, hasDictionary } = this.facts;
    if (dataBlocks !== undefined) {
      const stored = this.properties.count('rocksdb.num.data.blocks');
      if (stored === 0 && dataBlocks > 0 && (hasDictionary || this.wasBuffered())) {
        this.report(
          'properties_mismatch',
          'note',
          `property rocksdb.num.data.blocks is 0, the table has ${dataBlocks}: ` +
            'a fault of its writer, RocksDB 11, in tables that were buffered for a dictionary',
          '0',
          String(dataBlocks),
        );
      } else {
        this.expect('rocksdb.num.data.blocks', [dataBlocks]);
      }
    }
    if (indexPartitions !== undefined) this.expect('rocksdb.index.partitions', [indexPartitions]);
    const { filterBytes } = this.facts;
    const filterSize = this.properties.count('rocksdb.filter.size');
    if (filterBytes !== undefined && filterSize !== undefined && filterSize !== filterBytes) {
      this.report(
        'properties_mismatch',
        'warning',
        `property rocksdb.filter.size is ${filterSize}, the filter blocks have ${filterBytes} bytes`,
        String(filterSize),
        String(filterBytes),
      );
    }
    if (dataEnd === undefined) return;
    for (const name of ['rocksdb.data.size', 'rocksdb.tail.start.offset'] as const) {
      const stored = this.properties.count(name);
      if (stored === undefined || (stored >= dataEnd && stored <= tailStart)) continue;
      // Written as 0 by releases that know the name, and by converters.
      if (stored === 0 && name === 'rocksdb.tail.start.offset') continue;
      this.report(
        'properties_mismatch',
        'damage',
        `property ${name} is ${stored}, the data blocks end at ${dataEnd} and the other blocks begin at ${tailStart}`,
        String(stored),
        String(dataEnd),
      );
    }
  }

  /** The writer was asked for a dictionary and kept the blocks back until it had made one, or given up. */
  private wasBuffered(): boolean {
    const options = this.properties.get('rocksdb.compression_options');
    return options !== undefined && /max_dict_bytes=[1-9]/.test(options);
  }

  /** Source: RocksDB block_based_table_reader.cc, GetGlobalSequenceNumber. */
  private globalSeqno(): void {
    const version = this.properties.get('rocksdb.external_sst_file.version');
    const seqno = this.properties.get('rocksdb.external_sst_file.global_seqno');
    if (seqno !== undefined && version === undefined) {
      this.report(
        'properties_mismatch',
        'damage',
        'there is a global sequence number, but no external file version',
      );
    } else if (version !== undefined && version < 2 && seqno !== undefined && seqno !== 0n) {
      this.report(
        'properties_mismatch',
        'damage',
        `an external file of version ${version} cannot have a global sequence number (${seqno})`,
      );
    }
  }

  /** format_version 7: the compression types that occur are listed, `BuiltinV2;0407;`. */
  private compression(): void {
    const { formatVersion, compressionCounts } = this.facts;
    const text = this.properties.get('rocksdb.compression');
    if (formatVersion < 7 || text === undefined) return;
    const [, types] = text.split(';');
    if (types === undefined || !/^([0-9A-F]{2})*$/.test(types)) {
      this.report(
        'properties_mismatch',
        'damage',
        `property rocksdb.compression is no list of types: ${text}`,
      );
      return;
    }
    const listed = new Set(types.match(/../g)?.map((hex) => Number.parseInt(hex, 16)));
    const unlisted: string[] = [];
    compressionCounts.forEach((count, type) => {
      if (count > 0 && type !== 0 && !listed.has(type)) unlisted.push(String(type));
    });
    if (unlisted.length === 0) return;
    this.report(
      'properties_mismatch',
      'damage',
      `property rocksdb.compression (${text}) does not list compression type ${unlisted.join(', ')}, which blocks have`,
    );
  }

  /** The first of `expected` is what newer releases write. Answers with the stored number. */
  private expect(name: PropertyName, expected: readonly number[]): number | undefined {
    const stored = this.properties.count(name);
    if (stored !== undefined && !expected.includes(stored)) {
      this.report(
        'properties_mismatch',
        'damage',
        `property ${name} is ${stored}, the table has ${expected[0]}`,
        String(stored),
        String(expected[0]),
      );
    }
    return stored;
  }

  private report(
    code: string,
    severity: Finding['severity'],
    message: string,
    stored?: string,
    computed?: string,
  ): void {
    const finding: Finding = { code, severity, message };
    if (this.block !== undefined) finding.block = this.block;
    if (stored !== undefined) finding.stored = stored;
    if (computed !== undefined) finding.computed = computed;
    this.log.add(finding);
  }
}
