import { ByteReader } from '../../bytes/byte-reader.ts';
import { compareBytes } from '../../bytes/compare.ts';
import { SstError, withPending } from '../../errors.ts';
import { BlockIterator } from '../../format/block/block-iterator.ts';
import { decodeBlockLayout } from '../../format/block/block-layout.ts';
import type { BlockHandle } from '../../format/block-handle.ts';
import { BlockList } from '../../format/block-list.ts';
import { visitBlocks } from '../../format/block-pipeline.ts';
import type { BlockType } from '../../format/block-type.ts';
import { IndexBlockIterator } from '../../format/index/index-block-iterator.ts';
import { TRAILER_SIZE, trailerType } from '../../format/internal-key.ts';
import {
  BLOCK_FILTER_PREFIX,
  COMPRESSION_DICT_BLOCK,
  HASH_METADATA_BLOCK,
  HASH_PREFIXES_BLOCK,
  type MetaindexEntry,
} from '../../format/metaindex.ts';
import type { TableReader } from '../../format/table-reader.ts';
import { entryTypeName, ValueType } from '../../format/value-type.ts';
import { type Finding, findingOf } from '../finding.ts';
import { EntryTotals } from './entry-totals.ts';
import type { FindingLog } from './finding-log.ts';
import { keyText } from './key-text.ts';
import { RestartCheck } from './restart-check.ts';
import type { TableObserver } from './table-observer.ts';

type Block = NonNullable<Finding['block']>;

/** What the walk over the meta blocks found out. */
export interface MetaFacts {
  dictionary: Uint8Array | undefined;
  hasDictionary: boolean;
  dictionaryLost: boolean;
  /** Range tombstones; undefined where not all of them could be read. */
  tombstones: EntryTotals | undefined;
  /** Filter partitions, for the map of the file. */
  readonly filterPartitions: BlockList;
  /** Bytes of all filter blocks without trailers; undefined where not all of them are known. */
  filterBytes: number | undefined;
  /** Blocks checked here: all but metaindex, properties and index. */
  blockCount: number;
}

export interface MetaCheckOptions {
  readonly checksumsOnly: boolean;
  /** 0: not known. */
  readonly dataBlockCount: number;
  /** Sees each range tombstone. */
  readonly observer: TableObserver | undefined;
}

/** Kinds that are read, and judged, when the table is opened. */
const OPENED: ReadonlySet<BlockType> = new Set(['properties', 'index']);

/** Checks every block that the metaindex names, beside those that opening the table has read. */
export async function checkMetaBlocks(
  table: TableReader,
  log: FindingLog,
  options: MetaCheckOptions,
): Promise<MetaFacts> {
  const check = new MetaCheck(table, log, options);
  await check.metaindex();
  for (const entry of table.metaindex ?? []) {
    if (log.stopped) break;
    if (!OPENED.has(entry.type)) await check.block(entry);
  }
  return check.facts;
}

class MetaCheck {
  readonly facts: MetaFacts = {
    dictionary: undefined,
    hasDictionary: false,
    dictionaryLost: false,
    tombstones: new EntryTotals(),
    filterPartitions: new BlockList(),
    filterBytes: 0,
    blockCount: 0,
  };
  private readonly restarts = new RestartCheck();
  private prefixesSize: number | undefined;

  constructor(
    private readonly table: TableReader,
    private readonly log: FindingLog,
    private readonly options: MetaCheckOptions,
  ) {}

  /** Readers look names up by binary search: they have to ascend. */
  async metaindex(): Promise<void> {
    const { table, log } = this;
    if (table.metaindex === undefined || this.options.checksumsOnly) return;
    const handle = table.footer.metaindex;
    const block: Block = { type: 'metaindex', ...handle, ordinal: 0 };
    const contents = await this.read(handle, 'metaindex');
    if (contents === undefined) return;
    const iterator = new BlockIterator();
    let last = new Uint8Array(0);
    this.walk(contents, block, iterator, () => {
      const { key, keyLength } = iterator;
      if (iterator.count > 1 && compareBytes(last, 0, last.length, key, 0, keyLength) >= 0) {
        const message = `name ${keyText(key, keyLength)} does not come after ${keyText(last, last.length)}`;
        log.add({ code: 'key_order', severity: 'damage', message, block });
      }
      last = key.slice(0, keyLength);
    });
  }

  async block(entry: MetaindexEntry): Promise<void> {
    const { facts, log } = this;
    facts.blockCount++;
    const block: Block = { type: entry.type, offset: entry.offset, size: entry.size, ordinal: 0 };
    if (entry.type.startsWith('filter') && facts.filterBytes !== undefined) facts.filterBytes += entry.size;
    const isDictionary = entry.name === COMPRESSION_DICT_BLOCK;
    if (isDictionary) facts.hasDictionary = true;
    let contents: Uint8Array;
    try {
      contents = await withPending(() =>
        isDictionary ? this.table.readDictionary()! : this.table.blocks.read(entry, entry.type),
      );
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      if (isDictionary) facts.dictionaryLost = true;
      if (entry.type === 'range_del') facts.tombstones = undefined;
      if (entry.type === 'filter_index') facts.filterBytes = undefined;
      log.addError(error, block);
      return;
    }
    if (isDictionary) facts.dictionary = contents;
    if (entry.name.startsWith(BLOCK_FILTER_PREFIX) && this.table.family === 'rocksdb') {
      log.add({
        code: 'filter_obsolete',
        severity: 'note',
        message: `filter ${entry.name}: one filter a block, which RocksDB has not read since 7.0`,
        block,
      });
    }
    if (entry.type === 'filter_index') await this.filterPartitions(entry, contents, block);
    if (this.options.checksumsOnly) return;
    if (entry.type === 'range_del') this.rangeDeletions(contents, block);
    if (entry.name === HASH_PREFIXES_BLOCK) this.prefixesSize = contents.length;
    if (entry.name === HASH_METADATA_BLOCK) await this.hashMetadata(contents, block);
  }

  private async read(handle: BlockHandle, type: BlockType): Promise<Uint8Array | undefined> {
    try {
      return await withPending(() => this.table.blocks.read(handle, type));
    } catch (error) {
      // What is wrong with it has been said.
      if (error instanceof SstError) return undefined;
      throw error;
    }
  }

  /** Walks the entries of a block with restarts. What is wrong with their encoding is a finding of the block. */
  private walk(contents: Uint8Array, block: Block, iterator: BlockIterator, visit: () => void): boolean {
    const { restarts, log } = this;
    try {
      restarts.reset(contents, iterator.reset(contents));
      while (iterator.next()) {
        restarts.entry(iterator.entryStart);
        visit();
      }
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      log.addError(error, block);
      return false;
    }
    this.finishRestarts(block);
    return true;
  }

  private finishRestarts(block: Block): void {
    this.restarts.end();
    if (this.restarts.fault === '') return;
    this.log.add({ code: 'block_format', severity: 'damage', message: this.restarts.fault, block });
  }

  /** The top level over filter partitions, which is encoded as an index, and their checksums. */
  private async filterPartitions(handle: BlockHandle, contents: Uint8Array, block: Block): Promise<void> {
    const { table, log, facts, restarts } = this;
    const { index } = table;
    if (index === undefined) {
      facts.filterBytes = undefined;
      return;
    }
    const partitions = facts.filterPartitions;
    try {
      table.decoding(handle, 'filter_index', () => {
        restarts.reset(contents, decodeBlockLayout(contents));
        const encoding = { userKeys: index.userKeys, deltaValues: index.deltaValues, firstKeys: false };
        const entries = new IndexBlockIterator(contents, encoding);
        while (entries.next()) {
          restarts.entry(entries.entryStart);
          partitions.push(entries.offset, entries.size);
          if (facts.filterBytes !== undefined) facts.filterBytes += entries.size;
        }
      });
      this.finishRestarts(block);
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      log.addError(error, block);
    }
    facts.blockCount += partitions.count;
    await visitBlocks(
      table.blocks,
      partitions,
      { blockType: 'filter_partition', checksumsOnly: true },
      (each) => {
        if (each.error !== undefined) {
          const { offset, size, ordinal } = each;
          log.addError(each.error, { type: 'filter_partition', offset, size, ordinal });
        }
        return !log.stopped;
      },
    );
  }

  /** Each tombstone by itself: files of old writers and of SstFileWriter hold them in any order. */
  private rangeDeletions(contents: Uint8Array, block: Block): void {
    const { table, facts } = this;
    const totals = new EntryTotals();
    const timestampSize = table.storedTimestampSize;
    const order = table.storedComparator;
    const iterator = new BlockIterator();
    let faults = 0;
    const malformed = (what: string): void => {
      faults++;
      this.log.add({
        code: 'range_del_malformed',
        severity: 'damage',
        message: `range tombstone ${iterator.count - 1} at ${iterator.entryStart} in the block: ${what}`,
        block,
      });
    };
    const walked = this.walk(contents, block, iterator, () => {
      const { key, keyLength, data, valueStart, valueEnd } = iterator;
      if (keyLength < TRAILER_SIZE + timestampSize) {
        malformed(`a key of ${keyLength} bytes has no room for its trailer`);
        return;
      }
      const type = trailerType(key, keyLength);
      if (type !== ValueType.rangeDeletion) {
        malformed(`it has type ${entryTypeName(type)}`);
        return;
      }
      totals.add(key, keyLength, type, valueEnd - valueStart);
      if (valueEnd - valueStart < timestampSize) malformed('its end key has no room for a timestamp');
      else if (
        order !== undefined &&
        order.compare(key, 0, keyLength - TRAILER_SIZE, data, valueStart, valueEnd) > 0
      ) {
        const start = keyText(key, keyLength - TRAILER_SIZE);
        const end = data.subarray(valueStart, valueEnd);
        malformed(`its start ${start} lies behind its end ${keyText(end, end.length)}`);
      } else this.options.observer?.tombstone(key, keyLength, data, valueStart, valueEnd);
    });
    facts.tombstones = walked && faults === 0 ? totals : undefined;
  }

  /** Per prefix: its length, the first block that has it, and how many have. */
  private async hashMetadata(contents: Uint8Array, block: Block): Promise<void> {
    const { table, log, options } = this;
    const prefixes = table.metaBlock(HASH_PREFIXES_BLOCK);
    const size = this.prefixesSize ?? (prefixes && (await this.read(prefixes, 'hash_prefixes'))?.length);
    const reader = new ByteReader(contents, 'block_format');
    let prefixBytes = 0;
    try {
      while (reader.remaining > 0) {
        prefixBytes += reader.varint32();
        const first = reader.varint32();
        const count = reader.varint32();
        if (options.dataBlockCount > 0 && first + count > options.dataBlockCount) {
          reader.fail(
            `a prefix is said to lie in blocks ${first} to ${first + count - 1} of ${options.dataBlockCount}`,
          );
        }
      }
      if (size !== undefined && prefixBytes !== size) {
        reader.fail(`prefixes of ${prefixBytes} bytes in all, ${size} bytes of them are stored`);
      }
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      log.add(findingOf(error, block));
    }
  }
}
