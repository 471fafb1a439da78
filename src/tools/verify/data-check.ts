import type { Environment } from '../../engine/environment.ts';
import { CorruptionError, SstError, withPending } from '../../errors.ts';
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
import { type DataBlockList, listDataBlocks } from '../../format/index/data-blocks.ts';
import { TRAILER_SIZE, trailerType } from '../../format/internal-key.ts';
import type { TableReader } from '../../format/table-reader.ts';
import { entryTypeName, isPointType, ValueType } from '../../format/value-type.ts';
import { type DamageShape, type Finding, findingOf } from '../finding.ts';
import { LossTracker } from '../loss-tracker.ts';
import { dictionaryMissing, needsDictionary } from '../walk-entries.ts';
import { EntryTotals } from './entry-totals.ts';
import type { FilterCheck } from './filter-check.ts';
import type { FindingLog } from './finding-log.ts';
import { KeyOrder } from './key-order.ts';
import { keyText } from './key-text.ts';
import { RestartCheck } from './restart-check.ts';
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
  private readonly separatorsKnown: boolean;
  /** `checksumsOnly`: damaged blocks side by side, with what is kept of them. */
  private separators: ByteArena | undefined;
  private readonly runs: { first: number; end: number; findings: Finding[] }[] = [];

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
    this.separatorsKnown = table.index?.guessed === false && blocks.separators.count === blocks.count;
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
    if (options.checksumsOnly) await this.closeRuns();
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
    this.lose(findingOf(error, blockOf(block)));
  }

  private checkSum(block: LoadedBlock): void {
    if (block.error === undefined) return;
    const kept = this.losses.length;
    this.loseBlock(block, block.error);
    const findings = this.losses.slice(kept);
    const last = this.runs.at(-1);
    if (last?.end === block.ordinal) {
      last.end++;
      last.findings.push(...findings);
    } else if (findings.length > 0) {
      this.runs.push({ first: block.ordinal, end: block.ordinal + 1, findings });
    }
  }

  /**
   * Lost ranges where no contents were decoded: from the key before to the key behind each run of damaged blocks,
   * from the neighbouring blocks, or from the separators where these cannot be decoded.
   */
  private async closeRuns(): Promise<void> {
    for (const { first, end, findings } of this.runs) {
      const after = first === 0 ? null : await this.borderKey(first - 1, 'last');
      const before = end >= this.blocks.count ? null : await this.borderKey(end, 'first');
      for (const finding of findings) finding.lost = { after, before, entries: null };
    }
  }

  private async borderKey(ordinal: number, side: 'first' | 'last'): Promise<Uint8Array | null> {
    const { table, blocks, options } = this;
    const { index } = table;
    try {
      const handle = { offset: blocks.offsets[ordinal]!, size: blocks.sizes[ordinal]! };
      if (options.dictionaryLost) throw dictionaryMissing(table.blocks.place(handle.offset, 'data'));
      const contents = await withPending(() => table.blocks.read(handle, 'data', options.dictionary));
      const { iterator } = this;
      iterator.reset(contents);
      while (iterator.next() && side === 'last');
      if (iterator.keyLength >= this.minKeyLength) {
        return iterator.key.slice(0, iterator.keyLength - this.minKeyLength);
      }
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
    }
    if (index === undefined || index.guessed) return null;
    // Listed without separators, as they are rarely needed here.
    this.separators ??= (await listDataBlocks(table)).separators;
    if (this.separators.count !== blocks.count) return null;
    const separator = this.separators.at(side === 'last' ? ordinal : ordinal - 1);
    const suffix = (index.userKeys ? 0 : TRAILER_SIZE) + table.storedTimestampSize;
    return separator.slice(0, Math.max(0, separator.length - suffix));
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
    const { iterator, restarts, totals, tracker, order, minKeyLength } = this;
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
        this.checkFirstKey(block);
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
      this.checkLastKey(block);
    }
    this.checkHashIndex(block.contents, layout, faults);
    if (restarts.fault !== '') faults.structure(restarts.fault);
    for (const finding of faults.findings(blockOf(block))) {
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

  private checkFirstKey(block: LoadedBlock): void {
    const { key, keyLength } = this.iterator;
    const { firstKeys } = this.options;
    if (firstKeys !== undefined && block.ordinal < firstKeys.count) {
      const told = firstKeys.at(block.ordinal);
      if (told.length !== keyLength || told.some((byte, i) => byte !== key[i])) {
        this.separatorFault(
          block,
          `the index says that its first key is ${keyText(told, told.length)}, it is`,
        );
      }
    }
    if (block.ordinal === 0 || !this.separatorsKnown) return;
    const order = this.compareToSeparator(block.ordinal - 1);
    if (order !== undefined && order <= 0) {
      const separator = this.blocks.separators.at(block.ordinal - 1);
      this.separatorFault(
        block,
        `the index parts it from the block before it at ${keyText(separator, separator.length)}, its first key is`,
      );
    }
  }

  private checkLastKey(block: LoadedBlock): void {
    if (!this.separatorsKnown) return;
    const order = this.compareToSeparator(block.ordinal);
    if (order !== undefined && order > 0) {
      const separator = this.blocks.separators.at(block.ordinal);
      this.separatorFault(
        block,
        `the index says that it ends at ${keyText(separator, separator.length)} or before, its last key is`,
      );
    }
  }

  /** The iterator's key against the separator of a block; undefined where the order is not known. */
  private compareToSeparator(ordinal: number): number | undefined {
    const { order, iterator, table } = this;
    if (order === undefined) return undefined;
    const separator = this.blocks.separators.at(ordinal);
    if (table.index!.userKeys) {
      if (separator.length < table.storedTimestampSize) return undefined;
      return order.compareUserKeys(
        iterator.key,
        iterator.keyLength - TRAILER_SIZE,
        separator,
        separator.length,
      );
    }
    // The check of the index has said that it is too short.
    if (separator.length < this.minKeyLength) return undefined;
    return order.compare(iterator.key, iterator.keyLength, separator, separator.length);
  }

  private separatorFault(block: LoadedBlock, what: string): void {
    const { key, keyLength } = this.iterator;
    this.log.add({
      code: 'index_separator',
      severity: 'damage',
      message: `${what} ${keyText(key, keyLength)}`,
      block: blockOf(block),
    });
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

function blockOf(block: LoadedBlock): NonNullable<Finding['block']> {
  return { type: 'data', offset: block.offset, size: block.size, ordinal: block.ordinal };
}

/** What is wrong with the entries of one block: each kind of fault once, with its number and its first case. */
class EntryFaults {
  lost = false;
  private readonly kinds: {
    code: string;
    severity: Finding['severity'];
    kind: string;
    first: string;
    count: number;
  }[] = [];

  shortKey(entryStart: number, keyLength: number, minKeyLength: number): void {
    this.lost = true;
    this.add(
      'entry_malformed',
      'damage',
      'short',
      () =>
        `entry at ${entryStart} in the block: a key of ${keyLength} bytes, ${minKeyLength} or more belong to one`,
    );
  }

  wrongType(entryStart: number, type: number): void {
    this.add(
      'entry_malformed',
      'damage',
      'type',
      () => `entry at ${entryStart} in the block has type ${entryTypeName(type)}, which no data block holds`,
    );
  }

  value(entryStart: number, type: number, error: SstError): void {
    const { code, severity, message } = findingOf(error);
    this.add(
      code,
      severity,
      'value',
      () => `${entryTypeName(type)} entry at ${entryStart} in the block: ${message}`,
    );
  }

  misplaced(relation: 'before' | 'repeated' | 'same_seqno', entry: BlockIterator, ordinal: number): void {
    const key = (): string =>
      `entry at ${entry.entryStart} of block ${ordinal}, key ${keyText(entry.key, entry.keyLength)}`;
    if (relation === 'before') {
      this.add('key_order', 'damage', relation, () => `${key()}, belongs before the entry in front of it`);
    } else if (relation === 'repeated') {
      this.add(
        'key_order',
        'damage',
        relation,
        () => `${key()}, repeats key and sequence number of the entry before`,
      );
    } else {
      this.add(
        'key_order',
        'warning',
        relation,
        () => `${key()}, has key and sequence number of the entry before, and another type`,
      );
    }
  }

  /** Restarts, hash index. */
  structure(reason: string): void {
    this.add('block_format', 'damage', 'structure', () => reason);
  }

  findings(block: NonNullable<Finding['block']>): Finding[] {
    return this.kinds.map(({ code, severity, first, count }) => ({
      code,
      severity,
      message: count === 1 ? first : `${first} (the first of ${count} such entries in the block)`,
      block,
    }));
  }

  private add(code: string, severity: Finding['severity'], kind: string, first: () => string): void {
    const known = this.kinds.find((each) => each.kind === kind);
    if (known !== undefined) known.count++;
    else this.kinds.push({ code, severity, kind, first: first(), count: 1 });
  }
}
