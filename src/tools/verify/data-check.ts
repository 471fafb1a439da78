import type { Environment } from '../../engine/environment.ts';
import { CorruptionError, SstError } from '../../errors.ts';
import { BlockIterator } from '../../format/block/block-iterator.ts';
import type { BlockHandle } from '../../format/block-handle.ts';
import { BlockList } from '../../format/block-list.ts';
import { type LoadedBlock, visitBlocks } from '../../format/block-pipeline.ts';
import type { ByteArena } from '../../format/byte-arena.ts';
import {
  type BlobIndex,
  decodeBlobIndex,
  decodePreferredSeqno,
  decodeWideColumns,
} from '../../format/entry-value.ts';
import type { DataBlockList } from '../../format/index/data-blocks.ts';
import { TRAILER_SIZE, trailerType } from '../../format/internal-key.ts';
import type { TableReader } from '../../format/table-reader.ts';
import { isPointType, ValueType } from '../../format/value-type.ts';
import { type DamageShape, dataBlockOf, type Finding, findingOf } from '../finding.ts';
import { LossTracker } from '../loss-tracker.ts';
import { dictionaryMissing, needsDictionary } from '../walk-entries.ts';
import { DamagedRuns } from './damaged-runs.ts';
import { EntryFaults } from './entry-faults.ts';
import { EntryTotals } from './entry-totals.ts';
import type { FilterCheck } from './filter-check.ts';
import type { FindingLog } from './finding-log.ts';
import { KeyOrder } from './key-order.ts';
import { RestartCheck } from './restart-check.ts';
import { SeparatorCheck } from './separator-check.ts';
import type { TableObserver } from './table-observer.ts';

export interface DataCheckOptions {
  readonly dictionary: Uint8Array | undefined;
  /** The table has a dictionary, and it cannot be read. */
  readonly dictionaryLost: boolean;
  readonly checksumsOnly: boolean;
  /** Compare keys with the keys before them and with the separators. */
  readonly order: boolean;
  /** What the index says of each block's first key, where it does. */
  readonly firstKeys: ByteArena | undefined;
  /** Ranges in which blocks are missing, where the blocks were found without an index. */
  readonly holes: readonly BlockHandle[];
  /** Is asked for each key. */
  readonly filter: FilterCheck | undefined;
  /** Sees the first and the last key of each block. */
  readonly observer: TableObserver | undefined;
  /** How far in the file the check has come, in bytes. */
  advanced(offset: number): void;
}

const HOLE_SAMPLE_BYTES = 64 * 1024;

/** Checks the data blocks of a table, one after the other, and counts what is in them. */
export class DataCheck {
  readonly totals = new EntryTotals();
  /** Blocks by compression byte. */
  readonly compressionCounts = new Uint32Array(256);
  /** Stored values that lie in this very file, beside its blocks. */
  readonly embedded = new BlockList();
  /** Blocks with a checksum in a table that is said to have none. */
  unexpectedChecksums = 0;
  /** Faults that cost entries, and the findings that are kept of them. */
  lossCount = 0;
  readonly losses: Finding[] = [];

  private readonly iterator = new BlockIterator();
  private readonly restarts = new RestartCheck();
  private readonly tracker: LossTracker;
  private readonly order: KeyOrder | undefined;
  private readonly minKeyLength: number;
  private readonly indexProblems: { error: SstError; position: number }[];
  private readonly holes: BlockHandle[];
  private readonly separators: SeparatorCheck;
  /** `checksumsOnly`: what was lost, as no contents are decoded that would tell. */
  private readonly runs: DamagedRuns;

  constructor(
    private readonly table: TableReader,
    private readonly blocks: DataBlockList,
    private readonly log: FindingLog,
    private readonly options: DataCheckOptions,
  ) {
    this.tracker = new LossTracker(table, (finding) => log.add(finding));
    const comparator = table.storedComparator;
    this.order = options.order && comparator !== undefined ? new KeyOrder(comparator) : undefined;
    this.minKeyLength = TRAILER_SIZE + table.storedTimestampSize;
    this.indexProblems = [...blocks.problems];
    this.holes = [...options.holes];
    this.runs = new DamagedRuns(table, blocks, options.dictionaryLost ? 'lost' : options.dictionary);
    this.separators = new SeparatorCheck(table, blocks, this.iterator, this.order, options.firstKeys, log);
  }

  async run(environment: Environment): Promise<void> {
    const { table, blocks, options, log } = this;
    await visitBlocks(
      table.blocks,
      blocks,
      {
        blockType: 'data',
        dictionary: options.dictionary,
        decodeZstdFrames: environment.decodeZstdFrames,
        checksumsOnly: options.checksumsOnly,
      },
      (block) => {
        this.passProblems(block.ordinal, block.offset);
        this.compressionCounts[block.compressionType]!++;
        if (block.computedChecksum === undefined && block.storedChecksum !== 0 && block.error === undefined) {
          this.unexpectedChecksums++;
        }
        if (options.checksumsOnly) this.checkSum(block);
        else this.checkBlock(block);
        options.advanced(block.offset + block.size);
        return !log.stopped;
      },
    );
    this.passProblems(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    if (options.checksumsOnly) await this.runs.close();
    this.tracker.end();
  }

  /** Reports parts of the index that are missing before block `ordinal`, and holes before `offset`. */
  private passProblems(ordinal: number, offset: number): void {
    while (this.indexProblems.length > 0 && this.indexProblems[0]!.position <= ordinal) {
      const { error } = this.indexProblems.shift()!;
      this.lose(findingOf(error, this.indexBlock(error)));
    }
    while (this.holes.length > 0 && this.holes[0]!.offset < offset) {
      const { offset: start, size } = this.holes.shift()!;
      this.lose({
        code: 'block_lost',
        severity: 'damage',
        message: `no block with a checksum that holds begins in these ${size} bytes`,
        block: { type: 'unknown', offset: start, size, ordinal: null },
        shape: this.shapeOfHole(start, size),
      });
    }
  }

  /** A table without footer ends in what was left of its last block, or in zeros. */
  private shapeOfHole(offset: number, size: number): DamageShape {
    const { source, footer } = this.table;
    const sample = source.read(offset, Math.min(size, HOLE_SAMPLE_BYTES));
    const zeros = sample.reduce((count, byte) => (byte === 0 ? count + 1 : count), 0);
    if (zeros >= 0.9 * sample.length) return 'zeros';
    return footer.size === 0 && offset + size >= source.size ? 'truncated' : 'unknown';
  }

  private indexBlock(error: SstError): Finding['block'] {
    if (!(error instanceof CorruptionError) || error.offset === undefined) return undefined;
    const { partitions } = this.blocks;
    for (let i = 0; i < partitions.count; i++) {
      if (partitions.offsets[i] !== error.offset) continue;
      return { type: 'index_partition', offset: error.offset, size: partitions.sizes[i]!, ordinal: i };
    }
    const { index } = this.table;
    if (index?.handle.offset !== error.offset) return undefined;
    return { type: 'index', offset: error.offset, size: index.handle.size, ordinal: 0 };
  }

  /** A fault that costs entries: from the last good key to the next. */
  private lose(finding: Finding): void {
    this.lossCount++;
    const { log, tracker } = this;
    if (log.room <= tracker.waitingCount) {
      log.omit(finding);
      return;
    }
    this.losses.push(finding);
    if (this.options.checksumsOnly) {
      finding.lost = { after: null, before: null, entries: null };
      log.add(finding);
    } else {
      tracker.lose(finding);
    }
  }

  private loseBlock(block: LoadedBlock, error: SstError): void {
    this.lose(findingOf(error, dataBlockOf(block)));
  }

  private checkSum(block: LoadedBlock): void {
    if (block.error === undefined) return;
    const kept = this.losses.length;
    this.loseBlock(block, block.error);
    this.runs.add(block.ordinal, this.losses.slice(kept));
  }

  private checkBlock(block: LoadedBlock): void {
    if (this.options.dictionaryLost && needsDictionary(block.compressionType)) {
      // Without its dictionary a block may decode to something else than it was.
      this.loseBlock(block, dictionaryMissing(this.table.blocks.place(block.offset, 'data')));
      return;
    }
    if (block.error !== undefined) {
      this.loseBlock(block, block.error);
      return;
    }
    try {
      this.checkEntries(block);
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      // The entries before the fault were good; nothing behind it can be trusted to begin anywhere.
      if (this.iterator.count > 0 && this.iterator.keyLength >= this.minKeyLength)
        this.tracker.good(this.iterator);
      this.loseBlock(block, error);
    }
  }

  private checkEntries(block: LoadedBlock): void {
    const { iterator, restarts, separators, totals, tracker, order, minKeyLength } = this;
    const { filter, observer } = this.options;
    // A block that fails before its first entry leaves nothing behind of the block before it.
    iterator.count = 0;
    const layout = iterator.reset(block.contents);
    restarts.reset(block.contents, layout);
    const faults = new EntryFaults();
    let good = 0;
    while (iterator.next()) {
      restarts.entry(iterator.entryStart);
      const { key, keyLength } = iterator;
      if (keyLength < minKeyLength) {
        faults.shortKey(iterator.entryStart, keyLength, minKeyLength);
        continue;
      }
      const type = trailerType(key, keyLength);
      if (good++ === 0) {
        tracker.good(iterator);
        observer?.point(key, keyLength);
        separators.first(block);
      }
      if (order !== undefined) {
        const relation = order.next(key, keyLength);
        if (relation !== 'after') faults.misplaced(relation, iterator, block.ordinal);
      }
      if (type !== ValueType.value) this.checkType(type, faults);
      totals.add(key, keyLength, type, iterator.valueEnd - iterator.valueStart);
      if (filter !== undefined) filter.entry(key, keyLength);
    }
    restarts.end();
    if (good > 0 && iterator.keyLength >= minKeyLength) {
      tracker.good(iterator);
      observer?.point(iterator.key, iterator.keyLength);
      separators.last(block);
    }
    this.checkHashIndex(block.contents, layout, faults);
    if (restarts.fault !== '') faults.structure(restarts.fault);
    for (const finding of faults.findings(dataBlockOf(block))) {
      if (finding.code === 'entry_malformed' && faults.lost) this.lose(finding);
      else this.log.add(finding);
    }
  }

  /** Types other than plain values, and values with a structure of their own. */
  private checkType(type: number, faults: EntryFaults): void {
    if (!isPointType(type)) {
      faults.wrongType(this.iterator.entryStart, type);
      return;
    }
    if (type <= ValueType.singleDeletion) return;
    const { data, valueStart, valueEnd } = this.iterator;
    try {
      if (type === ValueType.blobIndex) this.takeBlob(decodeBlobIndex(data, valueStart, valueEnd));
      else if (type === ValueType.wideColumnEntity) {
        for (const { blob } of decodeWideColumns(data, valueStart, valueEnd)) {
          if (blob !== undefined) this.takeBlob(blob);
        }
      } else if (type === ValueType.valuePreferredSeqno) decodePreferredSeqno(data, valueStart, valueEnd);
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      faults.value(this.iterator.entryStart, type, error);
    }
  }

  private takeBlob(blob: BlobIndex): void {
    if (blob.kind !== 'inlined_ttl' && blob.fileNumber === 0) this.embedded.push(blob.offset, blob.size);
    this.options.observer?.blob(this.iterator.key, this.iterator.keyLength, blob);
  }

  /** A bucket holds the number of a restart, or one of two marks: none, several. */
  private checkHashIndex(
    contents: Uint8Array,
    layout: { bucketsStart: number; bucketCount: number; restartCount: number },
    faults: EntryFaults,
  ): void {
    for (let i = 0; i < layout.bucketCount; i++) {
      const bucket = contents[layout.bucketsStart + i]!;
      if (bucket < layout.restartCount || bucket >= HASH_BUCKET_MARKS) continue;
      faults.structure(
        `hash bucket ${i} of ${layout.bucketCount} names restart ${bucket} of ${layout.restartCount}`,
      );
      return;
    }
  }
}

/** Buckets from here on name no restart: 254 stands for several, 255 for none. */
const HASH_BUCKET_MARKS = 254;
