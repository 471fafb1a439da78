import { CorruptionError, withPending } from '../../errors.ts';
import { BLOCK_TRAILER_SIZE } from '../../format/block-handle.ts';
import type { BlockList } from '../../format/block-list.ts';
import { visitBlocks } from '../../format/block-pipeline.ts';
import { IndexType } from '../../format/index/index-block-iterator.ts';
import type { TableReader } from '../../format/table-reader.ts';
import { ChecksumType } from '../../hash/registry.ts';
import { DamageShapes } from '../damage-shape.ts';
import type { Finding } from '../finding.ts';
import type { OpenedTableFile } from '../open-any-table.ts';
import { DataCheck } from './data-check.ts';
import type { EntryTotals } from './entry-totals.ts';
import { FileMap, type GapReason } from './file-map.ts';
import { FilterCheck } from './filter-check.ts';
import type { FindingLog } from './finding-log.ts';
import type { IndexCheck } from './index-check.ts';
import { checkMetaBlocks, type MetaFacts } from './meta-check.ts';
import { checkProperties, countedEntries } from './property-check.ts';
import type { TableObserver } from './table-observer.ts';
import type { TableCounts, VerifyEnvironment, VerifyTableOptions } from './verify-options.ts';

const MAX_SEQNO = 2n ** 56n - 1n;

type OpenedBlockTable = Extract<OpenedTableFile, { table: TableReader }>;

/** Checks an open block-based or LevelDB table, block by block. */
export async function verifyBlockTable(
  environment: VerifyEnvironment,
  opened: OpenedBlockTable,
  index: IndexCheck,
  options: VerifyTableOptions,
  log: FindingLog,
  advanced: (offset: number) => void,
): Promise<TableCounts> {
  const check = new BlockTableCheck(environment, opened, index, options, log, advanced);
  await check.run();
  return check.counts;
}

class BlockTableCheck {
  readonly counts: TableCounts = { blocks: 0, entries: 0 };
  private readonly table: TableReader;
  private readonly checksumsOnly: boolean;
  private readonly withOrder: boolean;
  private readonly observer: TableObserver | undefined;

  constructor(
    private readonly environment: VerifyEnvironment,
    private readonly opened: OpenedBlockTable,
    /** Has seen the index while the table was opened. */
    private readonly index: IndexCheck,
    options: VerifyTableOptions,
    private readonly log: FindingLog,
    private readonly advanced: (offset: number) => void,
  ) {
    this.table = opened.table;
    this.checksumsOnly = options.checksumsOnly ?? false;
    this.withOrder = options.order ?? true;
    this.observer = options.observer;
    log.shapes = new DamageShapes(opened.table.blocks, options.shapeBudgetBytes);
  }

  async run(): Promise<void> {
    const { table, opened, log } = this;
    const { blocks, recovered } = opened;
    for (const finding of opened.findings) if (finding.code !== 'block_lost') log.add(finding);
    this.notes();
    this.observer?.opened({
      comparatorName: table.comparatorName,
      order: this.withOrder ? table.storedComparator : undefined,
      timestampSize: table.storedTimestampSize,
      isExternal: table.properties?.get('rocksdb.external_sst_file.version') !== undefined,
    });
    await this.checkGlobalSeqno();
    if (log.stopped) return;

    const meta = await checkMetaBlocks(table, log, {
      checksumsOnly: this.checksumsOnly,
      dataBlockCount: blocks.problems.length === 0 ? blocks.count : 0,
      observer: this.observer,
    });
    if (recovered === undefined) this.index.report(log);
    this.countBlocks(meta);
    if (log.stopped) return;

    const filter = this.checksumsOnly
      ? undefined
      : await FilterCheck.open(table, this.environment.keyHash, log);
    const data = new DataCheck(table, blocks, log, {
      dictionary: meta.dictionary,
      dictionaryLost: meta.dictionaryLost,
      checksumsOnly: this.checksumsOnly,
      order: this.withOrder,
      firstKeys: recovered === undefined ? this.index.firstKeysOf(table, blocks) : undefined,
      holes: recovered?.holes ?? [],
      filter,
      observer: this.observer,
      advanced: this.advanced,
    });
    await data.run(this.environment);
    filter?.report(log);
    this.counts.entries = data.totals.entries + (meta.tombstones?.entries ?? 0);
    this.observeSeqnos(data.totals, meta.tombstones);
    if (log.stopped) return;
    await this.checkEmbedded(data.embedded);
    this.checkUnexpectedChecksums(data);
    this.noteUnusedDictionary(meta, data);
    if (recovered === undefined) this.checkMap(meta, data);
    this.compareProperties(meta, data);
    this.sumUpLosses(meta, data);
  }

  private observeSeqnos(points: EntryTotals, tombstones: EntryTotals | undefined): void {
    const smallest = Math.min(points.smallestSeqno, tombstones?.smallestSeqno ?? Number.POSITIVE_INFINITY);
    const largest = Math.max(points.largestSeqno, tombstones?.largestSeqno ?? -1);
    if (largest >= 0) this.observer?.seqnos(smallest, largest);
  }

  private notes(): void {
    const { table, log } = this;
    if (table.footer.checksumType === ChecksumType.none) {
      log.add({
        code: 'checksums_absent',
        severity: 'note',
        message:
          'the file has no checksums: only its structure can be checked, damage inside of values goes unseen',
      });
    }
    if (this.checksumsOnly || !this.withOrder || table.storedComparator !== undefined) return;
    log.add({
      code: 'order_not_checked',
      severity: 'note',
      message:
        table.comparatorName === undefined
          ? 'the order of keys was not checked: the properties, which name the comparator, cannot be read'
          : `the order of keys was not checked: comparator ${table.comparatorName} is not known here (--comparator)`,
    });
  }

  /**
   * Ingestion by older releases wrote the global sequence number into the finished file, and left the checksum of the
   * properties as it was for 0. A flipped bit in these eight bytes looks the same: so the number is told.
   */
  private async checkGlobalSeqno(): Promise<void> {
    const { table, log } = this;
    const seqno = table.properties?.get('rocksdb.external_sst_file.global_seqno');
    const entry = table.metaindex?.find(({ type }) => type === 'properties');
    if (seqno === undefined || seqno === 0n || entry === undefined) return;
    const block = { type: entry.type, offset: entry.offset, size: entry.size, ordinal: 0 };
    if (seqno > MAX_SEQNO) {
      const message = `the global sequence number is ${seqno}, above the largest that there is`;
      log.add({ code: 'seqno_bounds', severity: 'damage', message, block });
      return;
    }
    const stored = await withPending(() => table.blocks.readStored(entry, 'properties'));
    if (table.blocks.checksumFault(stored, entry, 'properties') === undefined) return;
    log.add({
      code: 'global_seqno_patched',
      severity: 'note',
      message:
        `global sequence number ${seqno} was written into the file after its checksum had been made, ` +
        'as ingestion of older releases did: no checksum guards it',
      block,
    });
  }

  private countBlocks(meta: MetaFacts): void {
    const { table, opened } = this;
    let count = meta.blockCount + opened.blocks.count + opened.blocks.partitions.count;
    if (table.footer.size > 0) count++;
    if (table.metaindex?.some(({ type }) => type === 'properties')) count++;
    if (table.index !== undefined) count++;
    this.counts.blocks = count;
  }

  /** Values of this file's own entries that lie beside its blocks, each with a trailer like a block's. */
  private async checkEmbedded(embedded: BlockList): Promise<void> {
    await visitBlocks(this.table.blocks, embedded, { blockType: 'unknown', checksumsOnly: true }, (block) => {
      const { offset, size, ordinal } = block;
      if (block.error !== undefined) {
        const finding: Finding = {
          code: block.error.code,
          severity: 'damage',
          message: `embedded value: ${block.error instanceof CorruptionError ? block.error.reason : block.error.message}`,
          block: { type: 'unknown', offset, size, ordinal },
        };
        if (block.error instanceof CorruptionError && block.error.stored !== undefined) {
          finding.stored = block.error.stored;
          finding.computed = block.error.computed!;
        }
        this.log.add(finding);
      }
      return !this.log.stopped;
    });
  }

  /** Writers store 0 where there are no checksums: anything else means that the footer's checksum type is wrong. */
  private checkUnexpectedChecksums(data: DataCheck): void {
    if (data.unexpectedChecksums === 0) return;
    this.log.add({
      code: 'checksum_type',
      severity: 'damage',
      message:
        `the footer says that the file has no checksums, but ${data.unexpectedChecksums} of ` +
        `${this.opened.blocks.count} data blocks have one`,
      block: this.footerBlock(),
    });
  }

  private noteUnusedDictionary(meta: MetaFacts, data: DataCheck): void {
    if (!meta.hasDictionary || this.opened.blocks.count === 0) return;
    if (data.compressionCounts.some((count, type) => count > 0 && type !== 0)) return;
    this.log.add({
      code: 'dictionary_unused',
      severity: 'note',
      message: 'the file has a compression dictionary and no compressed data block',
    });
  }

  private checkMap(meta: MetaFacts, data: DataCheck): void {
    const { table, opened, log } = this;
    const { footer } = table;
    if (table.metaindex === undefined || table.index === undefined) return;
    const map = new FileMap();
    map.addList('data', opened.blocks);
    map.addList('unknown', data.embedded);
    map.addList('index_partition', opened.blocks.partitions);
    map.addList('filter_partition', meta.filterPartitions);
    for (const entry of table.metaindex) map.addBlock(entry.type, entry);
    if (footer.index !== null) map.addBlock('index', footer.index);
    map.addBlock('metaindex', footer.metaindex);
    map.add('footer', footer.offset, footer.offset + footer.size);
    const end = footer.offset + footer.size;
    // Appended bytes have a finding of their own.
    const source = { ...readable(table), size: end };
    map.check(source, log, this.reasonOfGaps());
  }

  /** Why bytes may have nothing that refers to them, where a known reason has it so. */
  private reasonOfGaps(): GapReason {
    if (this.opened.blocks.problems.length > 0) {
      return { severity: 'warning', text: ': a part of the index cannot be read' };
    }
    const embeds = this.table.properties?.get('rocksdb.embedded.blob.stats') !== undefined;
    if (embeds && this.checksumsOnly) {
      return { severity: 'note', text: ' but entries, which --checksums-only does not read' };
    }
    return { severity: 'warning', text: '' };
  }

  private compareProperties(meta: MetaFacts, data: DataCheck): void {
    const { table, opened, log, checksumsOnly } = this;
    const { blocks, recovered } = opened;
    const { properties, footer } = table;
    if (properties === undefined) return;
    const complete = blocks.problems.length === 0 && recovered === undefined && table.index !== undefined;
    const entry = table.metaindex?.find(({ type }) => type === 'properties');
    const block = entry && { type: entry.type, offset: entry.offset, size: entry.size, ordinal: 0 };
    let dataEnd = 0;
    for (let i = 0; i < blocks.count; i++) {
      dataEnd = Math.max(dataEnd, blocks.offsets[i]! + blocks.sizes[i]! + BLOCK_TRAILER_SIZE);
    }
    const others = [
      ...(table.metaindex ?? []),
      footer.metaindex,
      ...(footer.index === null ? [] : [footer.index]),
    ];
    let tailStart = footer.offset;
    for (const { offset } of others) tailStart = Math.min(tailStart, offset);
    for (const list of [blocks.partitions, meta.filterPartitions]) {
      if (list.count > 0) tailStart = Math.min(tailStart, list.offsets[0]!);
    }
    checkProperties(
      properties,
      {
        points: checksumsOnly || !complete || data.lossCount > 0 ? undefined : data.totals,
        tombstones: checksumsOnly ? undefined : meta.tombstones,
        dataBlocks: complete ? blocks.count : undefined,
        dataEnd: complete ? dataEnd : undefined,
        tailStart,
        hasDictionary: meta.hasDictionary,
        strippedTimestampSize: table.timestampsPersisted ? 0 : table.timestampSize,
        indexPartitions:
          complete && table.index?.type === IndexType.twoLevel ? blocks.partitions.count : undefined,
        filterBytes: complete ? meta.filterBytes : undefined,
        compressionCounts: data.compressionCounts,
        formatVersion: footer.formatVersion,
      },
      block,
      log,
    );
  }

  /** How many entries are lost: by the properties' count, for all faults together. */
  private sumUpLosses(meta: MetaFacts, data: DataCheck): void {
    const { table, opened, checksumsOnly } = this;
    const counted = countedEntries(table.properties);
    if (checksumsOnly || counted === undefined || meta.tombstones === undefined) return;
    const tombstones =
      table.properties?.count('rocksdb.num.range-deletions') === undefined ? 0 : meta.tombstones.entries;
    const lost = counted - data.totals.entries - tombstones;
    if (lost < 0) return;
    const { losses, lossCount } = data;
    if (lossCount === 0 && opened.recovered !== undefined) {
      const footer = opened.findings.find(({ block }) => block?.type === 'footer');
      if (footer !== undefined) footer.lost = { after: null, before: null, entries: lost };
    } else if (lossCount === 1 && losses.length === 1) {
      losses[0]!.lost!.entries = lost;
    } else {
      for (const finding of losses) finding.message += `; ${lossCount} faults together lost ${lost} entries`;
    }
  }

  private footerBlock(): NonNullable<Finding['block']> {
    const { offset, size } = this.table.footer;
    return { type: 'footer', offset, size, ordinal: null };
  }
}

function readable(table: TableReader): Pick<TableReader['source'], 'name' | 'read' | 'readInto'> {
  const { source } = table;
  return {
    name: source.name,
    read: (offset, length) => source.read(offset, length),
    readInto: (offset, target) => source.readInto(offset, target),
  };
}
