import type { ByteSource } from '../../bytes/source.ts';
import { comparableTrailerSeqno, seqnoOfComparable } from '../../engine/range-del/comparable-seqno.ts';
import { fragmentTombstones } from '../../engine/range-del/fragmenter.ts';
import { tombstoneSetOf } from '../../engine/range-del/tombstone-set.ts';
import { type LookupEnvironment, requireBlocks, requireOrder } from '../../engine/table/lookup-table.ts';
import { NEWEST, type ReadPoint } from '../../engine/table/read-point.ts';
import { SstError, UnsupportedError } from '../../errors.ts';
import { BlockCursor, HashAnswer } from '../../format/block/block-cursor.ts';
import { ParsedBlock } from '../../format/block/parsed-block.ts';
import { readFooter } from '../../format/footer.ts';
import { IndexType, indexTypeName } from '../../format/index/index-block-iterator.ts';
import { IndexCursor } from '../../format/index/index-cursor.ts';
import { TRAILER_SIZE, trailerType } from '../../format/internal-key.ts';
import { COMPRESSION_DICT_BLOCK, RANGE_DEL_BLOCK } from '../../format/metaindex.ts';
import { type OpenTableOptions, openTableAt, type TableReader } from '../../format/table-reader.ts';
import { entryTypeName, isPointDeletion, ValueType } from '../../format/value-type.ts';
import { checksumName } from '../../hash/registry.ts';
import { bytewiseComparator, reverseBytewiseComparator } from '../../operators/comparator.ts';
import { type FilterOptions, filterLetsPass } from './explain-filter.ts';
import type { Explanation, PassedEntry, Step, Verdict } from './explanation.ts';
import { TracedBlocks } from './traced-blocks.ts';
import { TracedTarget } from './traced-target.ts';

export interface ExplainOptions extends OpenTableOptions, FilterOptions {
  readonly point: ReadPoint;
}

/**
 * Looks one key up in one table and tells every step. The searches are those of `LookupTable`, run with a target that
 * remembers what it is compared with; what is shown is what is done. Damage on the way ends the look-up and is its
 * verdict. Throws SstError where the file has no footer. Run it in `withPending`: it has no side effects.
 */
export function explainKey(
  source: ByteSource,
  environment: LookupEnvironment,
  key: Uint8Array,
  options: ExplainOptions,
): Explanation {
  const footer = readFooter(source, environment.hashes);
  requireBlocks(source, footer);
  const table = openTableAt(source, footer, environment, options);
  requireOrder(table);
  const lookup = new ExplainedLookup(table, environment, key, options);
  let verdict: Verdict;
  try {
    verdict = lookup.run();
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    const code = error instanceof UnsupportedError ? 'unsupported' : 'damage';
    verdict = lookup.verdict(code, lookup.blocks.placed(error).message);
  }
  return { path: source.name, key, steps: lookup.steps, verdict };
}

class ExplainedLookup {
  readonly steps: Step[] = [];
  private readonly target: TracedTarget;
  readonly blocks: TracedBlocks;
  private covering: bigint | null = null;

  constructor(
    private readonly table: TableReader,
    private readonly environment: LookupEnvironment,
    private readonly key: Uint8Array,
    private readonly options: ExplainOptions,
  ) {
    const { point } = options;
    this.blocks = new TracedBlocks(table, this.steps);
    this.target = new TracedTarget(table.storedComparator!, table.storedTimestampSize);
    const isGlobal = table.globalSeqno !== undefined;
    const [high, low] = isGlobal ? [undefined, undefined] : [point.trailerHigh, point.trailerLow];
    this.target.set(key, 0, key.length, high, low, point.timestamp);
  }

  run(): Verdict {
    this.explainOpening();
    const { globalSeqno } = this.table;
    this.explainTombstones();
    if (globalSeqno !== undefined && globalSeqno > seqnoOfComparable(this.options.point.seqno)) {
      return this.verdict(
        'newer_than_read',
        `every entry of the file has the global sequence number ${globalSeqno}, above the one that is read at`,
      );
    }
    const { blocks, environment, options, steps, table, target } = this;
    if (!filterLetsPass({ blocks, environment, options, steps, table, target }))
      return this.verdict('filter_denies', 'the filter says that the key is not there');
    const verdict = this.search();
    if (verdict.code !== 'not_in_block' && verdict.code !== 'behind_last_key') return verdict;
    return this.newerVersion() ?? verdict;
  }

  /** Where the point hides every version of the key: the newest of them. */
  private newerVersion(): Verdict | undefined {
    if (this.options.point === NEWEST) return undefined;
    const newest = new ExplainedLookup(this.table, this.environment, this.key, {
      ...this.options,
      point: NEWEST,
    });
    let found: Verdict;
    try {
      found = newest.search();
    } catch (error) {
      // The look-up itself went without the block that cannot be read.
      if (error instanceof SstError) return undefined;
      throw error;
    }
    const { seqno, type } = found;
    if (seqno === null) return undefined;
    return this.verdict(
      'newer_than_read',
      `the newest version is ${seqno}, and all are newer than what is read`,
      seqno,
      type,
    );
  }

  verdict(
    code: Verdict['code'],
    text: string,
    seqno: bigint | null = null,
    type: string | null = null,
  ): Verdict {
    return { code, text, seqno, type, coveredBy: this.covering, bytesRead: this.blocks.bytesRead };
  }

  private explainOpening(): void {
    const { footer, metaindex, properties, problems, index } = this.table;
    this.blocks.bytesRead += footer.size;
    this.steps.push({
      step: 'footer',
      range: {
        type: 'footer',
        offset: footer.offset,
        size: footer.size,
        compression: null,
        rawSize: null,
        checksumHolds: null,
      },
      text:
        `${footer.format} table, format_version ${footer.formatVersion}, checksums ` +
        `${checksumName(footer.checksumType) ?? footer.checksumType}; the metaindex is at ${footer.metaindex.offset}`,
      facts: { formatVersion: footer.formatVersion, metaindexOffset: footer.metaindex.offset },
    });
    this.blocks.read(footer.metaindex, 'metaindex');
    this.steps.push({
      step: 'metaindex',
      range: this.blocks.range,
      text: `names ${metaindex?.length ?? 0} meta blocks: ${(metaindex ?? []).map(({ name }) => name).join(', ')}`,
    });
    const entry = metaindex?.find(({ type }) => type === 'properties');
    if (entry !== undefined && properties !== undefined) {
      this.blocks.read(entry, 'properties');
      this.steps.push({
        step: 'properties',
        range: this.blocks.range,
        text:
          `comparator ${this.table.comparatorName}, ${indexTypeName(index?.type ?? 0)} index with ` +
          `${index?.userKeys ? 'user' : 'internal'} keys, prefix extractor ` +
          `${properties.get('rocksdb.prefix.extractor.name') ?? 'nullptr'}`,
      });
    }
    const [problem] = problems;
    if (index === undefined && problem !== undefined) throw problem;
  }

  private explainTombstones(): void {
    const entry = this.table.metaBlock(RANGE_DEL_BLOCK);
    if (entry === undefined) return;
    this.blocks.read(entry, 'range_del');
    const range = this.blocks.range;
    const stored = this.table.readRangeTombstones();
    const { point } = this.options;
    const list = fragmentTombstones(tombstoneSetOf(stored, this.table), this.table.comparator!);
    const covering = list.maxCoveringSeqno(this.key, 0, this.key.length, point.seqno, point.timestamp);
    this.covering = covering < 0 ? null : seqnoOfComparable(covering);
    this.steps.push({
      step: 'range_del',
      range,
      text:
        `${stored.length} range tombstones in ${list.count} fragments; ` +
        (this.covering === null
          ? 'none covers the key'
          : `one covers the key: older versions than ${this.covering} are deleted`),
      facts: {
        tombstones: stored.length,
        fragments: list.count,
        coveredBy: this.covering === null ? null : String(this.covering),
      },
    });
  }

  private search(): Verdict {
    const { table, target } = this;
    const index = table.index!;
    const twoLevel = index.type === IndexType.twoLevel;
    const leaf = new IndexCursor(index);
    const top = twoLevel ? new IndexCursor({ ...index, firstKeys: false }) : leaf;
    top.load(new ParsedBlock(this.blocks.read(index.handle, 'index')));
    const inTop = top.seek(target);
    this.steps.push({
      step: 'index',
      range: this.blocks.range,
      text: !inTop
        ? 'every separator comes before the key: it would lie behind the last block'
        : `the first separator that is not before the key leads to the ${twoLevel ? 'partition' : 'data block'} at ${top.offset}`,
      comparisons: target.take(),
    });
    if (!inTop) return this.verdict('behind_last_key', 'the key lies behind the last key of the table');
    if (twoLevel && !this.enterPartition(top, leaf, true) && !this.toNextPartition(top, leaf))
      return this.verdict('behind_last_key', 'the key lies behind the last key of the table');
    for (;;) {
      if (this.firstKeyIsBehind(leaf)) {
        const text = `the first key of the block at ${leaf.offset}, which stands in the index, comes behind the key: the block is not read`;
        this.steps.push({ step: twoLevel ? 'index_partition' : 'index', text });
        return this.verdict('not_in_block', 'no entry of the table has this key');
      }
      const verdict = this.searchBlock(leaf);
      if (verdict !== undefined) return verdict;
      if (!leaf.next() && !(twoLevel && this.toNextPartition(top, leaf)))
        return this.verdict('not_in_block', 'no entry of the table has this key');
    }
  }

  /** Reads the partition at which `top` stands, to its first entry, or with `seeks` to the one that leads to the key. */
  private enterPartition(top: IndexCursor, leaf: IndexCursor, seeks: boolean): boolean {
    const { target } = this;
    leaf.load(new ParsedBlock(this.blocks.read(top, 'index_partition')));
    const isFound = seeks ? leaf.seek(target) : leaf.next();
    this.steps.push({
      step: 'index_partition',
      range: this.blocks.range,
      text: isFound
        ? `leads to the data block at ${leaf.offset}`
        : 'has no separator that is not before the key',
      comparisons: target.take(),
    });
    return isFound;
  }

  private toNextPartition(top: IndexCursor, leaf: IndexCursor): boolean {
    while (top.next()) if (this.enterPartition(top, leaf, false)) return true;
    return false;
  }

  private firstKeyIsBehind({ data, firstKeyStart, firstKeyEnd }: IndexCursor): boolean {
    if (firstKeyEnd === firstKeyStart) return false;
    return this.compareUserKey(data, firstKeyStart, firstKeyEnd) > 0;
  }

  /** Undefined: the block ends before the key, and its separator has the very key. */
  private searchBlock(leaf: IndexCursor): Verdict | undefined {
    const { table, target } = this;
    const dictionaryEntry = table.metaBlock(COMPRESSION_DICT_BLOCK);
    let dictionary: Uint8Array | undefined;
    if (dictionaryEntry !== undefined && this.blocks.isCompressed(leaf)) {
      dictionary = this.blocks.read(dictionaryEntry, 'compression_dict');
      this.steps.push({
        step: 'compression_dict',
        range: this.blocks.range,
        text: `${dictionary.length} bytes, fetched because the data block is compressed`,
      });
    }
    const block = new ParsedBlock(this.blocks.read(leaf, 'data', dictionary));
    const range = this.blocks.range;
    const cursor = new BlockCursor();
    cursor.load(block);
    const hashes =
      table.storedComparator === bytewiseComparator || table.storedComparator === reverseBytewiseComparator;
    const answer = hashes ? cursor.askHashIndex(target) : HashAnswer.ask;
    let isFound = false;
    if (answer === HashAnswer.ask) isFound = cursor.seek(target);
    else if (answer !== HashAnswer.absent) {
      cursor.toRestart(answer);
      isFound = cursor.walkTo(target);
    }
    const comparisons = target.take();
    const passed: PassedEntry[] = [];
    let isKey = false;
    for (; isFound; isFound = cursor.next()) {
      isKey = this.compareUserKey(cursor.key, 0, cursor.keyLength) === 0;
      passed.push(this.entryOf(cursor));
      // Between timestamps the sequence numbers are in no order: versions are passed until one can be seen.
      if (!isKey || table.storedTimestampSize === 0 || this.isVisible(passed.at(-1)!)) break;
    }
    const how =
      answer === HashAnswer.ask
        ? `${block.layout.restartCount} restarts searched, then ${cursor.compared} entries`
        : answer === HashAnswer.absent
          ? 'its hash index has no such key'
          : `its hash index leads to restart ${answer}, then ${cursor.compared} entries`;
    this.steps.push({
      step: 'data',
      range,
      text: `${how}; ${isFound ? (isKey ? 'the key is there' : 'the next key is another one') : 'all its keys come before'}`,
      facts: {
        restarts: block.layout.restartCount,
        hashBuckets: block.layout.bucketCount,
        hashIndexAnswer: answer >= 0 ? answer : answer === HashAnswer.absent ? 'absent' : 'not asked',
        entriesCompared: cursor.compared,
      },
      comparisons,
      entries: passed,
    });
    if (isFound && isKey) return this.judge(cursor);
    if (isFound)
      return this.verdict('not_in_block', 'the key would stand before the entry shown, and does not');
    const separatorEnd = leaf.keyLength + (table.index!.userKeys ? TRAILER_SIZE : 0);
    if (this.compareUserKey(leaf.key, 0, separatorEnd) <= 0) return undefined;
    return this.verdict('not_in_block', 'the key would stand in this block, and does not');
  }

  private isVisible({ seqno }: PassedEntry): boolean {
    return seqno <= seqnoOfComparable(this.options.point.seqno);
  }

  private judge(cursor: BlockCursor): Verdict {
    const { globalSeqno } = this.table;
    const seqno = globalSeqno ?? seqnoOfComparable(comparableTrailerSeqno(cursor.key, cursor.keyLength));
    const type = trailerType(cursor.key, cursor.keyLength);
    const name = entryTypeName(type);
    if (this.covering !== null && this.covering > seqno) {
      return this.verdict(
        'range_deleted',
        `${name} ${seqno} is deleted by the range tombstone ${this.covering}`,
        seqno,
        name,
      );
    }
    if (isPointDeletion(type))
      return this.verdict('deleted', `${name} ${seqno}: the key is deleted`, seqno, name);
    if (type === ValueType.merge) {
      return this.verdict('merge', `merge operand ${seqno}: older versions count as well`, seqno, name);
    }
    const length = cursor.valueEnd - cursor.valueStart;
    return this.verdict('found', `${name} ${seqno}, a value of ${length} bytes`, seqno, name);
  }

  private entryOf({ entryStart, key, keyLength }: BlockCursor): PassedEntry {
    const { globalSeqno, storedTimestampSize } = this.table;
    const end = keyLength - TRAILER_SIZE;
    const userEnd = Math.max(0, end - storedTimestampSize);
    return {
      offset: entryStart,
      key: key.slice(0, userEnd),
      timestamp: key.slice(userEnd, end),
      seqno: globalSeqno ?? seqnoOfComparable(comparableTrailerSeqno(key, keyLength)),
      type: entryTypeName(trailerType(key, keyLength)),
    };
  }

  /** Order of the user key of the internal key `key[start, end)` against the one that is looked for. */
  private compareUserKey(key: Uint8Array, start: number, end: number): number {
    const { comparator, key: wanted, userKeyEnd } = this.target;
    const userEnd = Math.max(start, end - TRAILER_SIZE - this.table.storedTimestampSize);
    return comparator.withoutTimestamp.compare(key, start, userEnd, wanted, 0, userKeyEnd);
  }
}
