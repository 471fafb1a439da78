import type { ByteSource } from '../../bytes/source.ts';
import { compressionName } from '../../codec/resolve-codec.ts';
import { comparableTrailerSeqno, seqnoOfComparable } from '../../engine/range-del/comparable-seqno.ts';
import { fragmentTombstones } from '../../engine/range-del/fragmenter.ts';
import { tombstoneSetOf } from '../../engine/range-del/tombstone-set.ts';
import { Statistics } from '../../engine/statistics/statistics.ts';
import { ExtractorMatch } from '../../engine/table/extractor-match.ts';
import { type LookupEnvironment, requireBlocks, requireOrder } from '../../engine/table/lookup-table.ts';
import { NEWEST, type ReadPoint } from '../../engine/table/read-point.ts';
import { CorruptionError, SstError, UnsupportedError } from '../../errors.ts';
import { BlockCursor, HashAnswer } from '../../format/block/block-cursor.ts';
import { ParsedBlock } from '../../format/block/parsed-block.ts';
import { BLOCK_TRAILER_SIZE, type BlockHandle } from '../../format/block-handle.ts';
import type { BlockType } from '../../format/block-type.ts';
import { type FilterBlock, findFilterBlock } from '../../format/filter/filter-block.ts';
import { openFilter } from '../../format/filter/open-filter.ts';
import { readFooter } from '../../format/footer.ts';
import { IndexType, indexTypeName } from '../../format/index/index-block-iterator.ts';
import { IndexCursor } from '../../format/index/index-cursor.ts';
import { TRAILER_SIZE, trailerType } from '../../format/internal-key.ts';
import { COMPRESSION_DICT_BLOCK, RANGE_DEL_BLOCK } from '../../format/metaindex.ts';
import { type OpenTableOptions, openTableAt, type TableReader } from '../../format/table-reader.ts';
import { entryTypeName, isPointDeletion, ValueType } from '../../format/value-type.ts';
import { checksumName } from '../../hash/registry.ts';
import { bytewiseComparator, reverseBytewiseComparator } from '../../operators/comparator.ts';
import type { PrefixExtractor } from '../../operators/prefix-extractor.ts';
import type { ByteRange, Explanation, PassedEntry, Step, Verdict } from './explanation.ts';
import { askWithProbes } from './filter-probes.ts';
import { TracedTarget } from './traced-target.ts';

export interface ExplainOptions extends OpenTableOptions {
  readonly point: ReadPoint;
  /** Extractor of the reader. Default: that of the file. */
  readonly prefixExtractor?: PrefixExtractor | undefined;
  readonly ignoreFilter?: boolean;
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
    verdict = lookup.verdict(code, lookup.placed(error).message);
  }
  return { path: source.name, key, steps: lookup.steps, verdict };
}

class ExplainedLookup {
  readonly steps: Step[] = [];
  private readonly target: TracedTarget;
  private bytesRead = 0;
  private covering: bigint | null = null;

  constructor(
    private readonly table: TableReader,
    private readonly environment: LookupEnvironment,
    private readonly key: Uint8Array,
    private readonly options: ExplainOptions,
  ) {
    const { point } = options;
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
    if (!this.passesFilter())
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

  /** An error with the block that was read last, where it does not say itself what it is about. */
  placed(error: SstError): SstError {
    const { lastRange } = this;
    const isOfFile = error instanceof CorruptionError || error instanceof UnsupportedError;
    if (!isOfFile || error.offset !== undefined || lastRange === undefined) return error;
    return error.at(this.table.blocks.place(lastRange.offset, lastRange.type));
  }

  verdict(
    code: Verdict['code'],
    text: string,
    seqno: bigint | null = null,
    type: string | null = null,
  ): Verdict {
    return { code, text, seqno, type, coveredBy: this.covering, bytesRead: this.bytesRead };
  }

  private explainOpening(): void {
    const { footer, metaindex, properties, problems, index } = this.table;
    this.bytesRead += footer.size;
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
    this.read(footer.metaindex, 'metaindex');
    this.steps.push({
      step: 'metaindex',
      range: this.lastRange!,
      text: `names ${metaindex?.length ?? 0} meta blocks: ${(metaindex ?? []).map(({ name }) => name).join(', ')}`,
    });
    const entry = metaindex?.find(({ type }) => type === 'properties');
    if (entry !== undefined && properties !== undefined) {
      this.read(entry, 'properties');
      this.steps.push({
        step: 'properties',
        range: this.lastRange!,
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
    this.read(entry, 'range_del');
    const range = this.lastRange!;
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

  /** Whether the look-up goes on. */
  private passesFilter(): boolean {
    const { table, options } = this;
    const found = table.metaindex === undefined ? undefined : findFilterBlock(table.metaindex);
    if (found === undefined || found.layout === 'per_block' || options.ignoreFilter === true) {
      const foreign = table.metaindex?.find(({ type }) => type === 'filter' || type === 'filter_index');
      const text = options.ignoreFilter
        ? 'not asked, as --no-filter says'
        : found !== undefined
          ? `${found.entry.name} is not read: it is one filter for every 2 KiB of file, as RocksDB wrote them before 7.0`
          : foreign === undefined
            ? 'the table has none'
            : `${foreign.name} is not read: its name is not that of RocksDB's own filters`;
      this.steps.push({ step: 'filter', text });
      return true;
    }
    const end = this.probeEnd();
    if (end === undefined) return true;
    try {
      return this.askFilter(found, end);
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      const text = `cannot be read, and is not asked: ${this.placed(error).message}`;
      this.steps.push({ step: 'filter', text, facts: { asked: false } });
      return true;
    }
  }

  private askFilter(found: FilterBlock, end: number): boolean {
    const { table, target, environment } = this;
    let handle: BlockHandle = found.entry;
    if (found.layout === 'partitioned') {
      const top = this.read(found.entry, 'filter_index');
      const range = this.lastRange!;
      const cursor = new IndexCursor({ ...table.index!, firstKeys: false });
      cursor.load(new ParsedBlock(top));
      const isFound = cursor.seek(target) || cursor.seekToLast();
      this.steps.push({
        step: 'filter_index',
        range,
        text: isFound ? `the partition at ${cursor.offset} knows the key` : 'the filter has no partition',
        comparisons: target.take(),
      });
      if (!isFound) return true;
      handle = { offset: cursor.offset, size: cursor.size };
    }
    const contents = this.read(handle, found.layout === 'partitioned' ? 'filter_partition' : 'filter');
    const filter = openFilter(contents);
    const answer = askWithProbes(filter, contents, environment.keyHash, target.key, end);
    const what = end === target.userKeyEnd ? 'the key' : `its prefix of ${end} bytes`;
    const line =
      answer.line === null
        ? ''
        : `, line at ${handle.offset + answer.line.offset} (${answer.line.size} bytes): ` +
          answer.probes
            .map(({ bit, isSet }) => `bit ${bit % (8 * answer.line!.size)} ${isSet ? 'set' : 'not set'}`)
            .join(', ');
    this.steps.push({
      step: 'filter',
      range: this.lastRange!,
      text:
        `${filter.kind} asked for ${what}: hash ${answer.hash ?? 'none'}${line}; ` +
        (answer.mayContain ? 'it may be there' : 'it is not there'),
      facts: {
        kind: filter.kind,
        hash: answer.hash,
        lineOffset: answer.line?.offset ?? null,
        mayContain: answer.mayContain,
      },
      probes: answer.probes,
    });
    return answer.mayContain;
  }

  /** The end of what the filter is asked for; undefined: it is not asked, and a step says why. */
  private probeEnd(): number | undefined {
    const { properties } = this.table;
    const { target } = this;
    if (properties?.get('rocksdb.block.based.table.whole.key.filtering') !== false) return target.userKeyEnd;
    const given = this.options.prefixExtractor;
    const match = new ExtractorMatch(properties, given, [], new Statistics());
    const extractor = given ?? match.own;
    const stored = properties.get('rocksdb.prefix.extractor.name') ?? 'nullptr';
    let reason: string | undefined;
    if (extractor === undefined) reason = `its prefixes are made by ${stored}, which is not known here`;
    else if (!match.accepts(extractor)) {
      reason = `its prefixes are made by ${stored}, and the reader's extractor is ${extractor.name}`;
    } else if (!extractor.inDomain(target.key, 0, target.userKeyEnd)) {
      reason = `${extractor.name} makes no prefix of the key`;
    }
    if (reason === undefined) return extractor!.prefixEnd(target.key, 0, target.userKeyEnd);
    this.steps.push({
      step: 'filter',
      text: `has prefixes alone, and is not asked: ${reason}`,
      facts: { asked: false },
    });
    return undefined;
  }

  private search(): Verdict {
    const { table, target } = this;
    const index = table.index!;
    const twoLevel = index.type === IndexType.twoLevel;
    const leaf = new IndexCursor(index);
    const top = twoLevel ? new IndexCursor({ ...index, firstKeys: false }) : leaf;
    top.load(new ParsedBlock(this.read(index.handle, 'index')));
    const inTop = top.seek(target);
    this.steps.push({
      step: 'index',
      range: this.lastRange!,
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
    leaf.load(new ParsedBlock(this.read(top, 'index_partition')));
    const isFound = seeks ? leaf.seek(target) : leaf.next();
    this.steps.push({
      step: 'index_partition',
      range: this.lastRange!,
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
    if (dictionaryEntry !== undefined && this.isCompressed(leaf)) {
      dictionary = this.read(dictionaryEntry, 'compression_dict');
      this.steps.push({
        step: 'compression_dict',
        range: this.lastRange!,
        text: `${dictionary.length} bytes, fetched because the data block is compressed`,
      });
    }
    const block = new ParsedBlock(this.read(leaf, 'data', dictionary));
    const range = this.lastRange!;
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

  private lastRange: ByteRange | undefined;

  private isCompressed({ offset, size }: BlockHandle): boolean {
    const handle = { offset, size };
    this.table.blocks.checkHandle(handle, 'data');
    return this.table.source.read(offset + size, 1)[0] !== 0;
  }

  /** A block's contents; `lastRange` says where they came from, also where the checksum does not hold. */
  private read({ offset, size }: BlockHandle, type: BlockType, dictionary?: Uint8Array): Uint8Array {
    const handle = { offset, size };
    const { blocks } = this.table;
    const stored = blocks.readStored(handle, type);
    const fault = blocks.checksumFault(stored, handle, type);
    const holds = stored.computedChecksum === undefined ? null : fault === undefined;
    const name = compressionName(stored.compressionType);
    this.bytesRead += size + BLOCK_TRAILER_SIZE;
    this.lastRange = {
      type,
      offset,
      size: size + BLOCK_TRAILER_SIZE,
      compression: name,
      rawSize: null,
      checksumHolds: holds,
    };
    if (fault !== undefined && type !== 'properties') {
      this.steps.push({ step: stepOf(type), range: this.lastRange, text: fault.reason });
      throw fault;
    }
    const contents = blocks.contents(stored, handle, type, dictionary);
    this.lastRange = { ...this.lastRange, rawSize: contents.length };
    return contents;
  }
}

function stepOf(type: BlockType): Step['step'] {
  if (type === 'filter_partition') return 'filter';
  return type as Step['step'];
}
