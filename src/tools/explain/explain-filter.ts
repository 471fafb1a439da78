import { Statistics } from '../../engine/statistics/statistics.ts';
import { ExtractorMatch } from '../../engine/table/extractor-match.ts';
import type { LookupEnvironment } from '../../engine/table/lookup-table.ts';
import { SstError } from '../../errors.ts';
import { ParsedBlock } from '../../format/block/parsed-block.ts';
import type { BlockHandle } from '../../format/block-handle.ts';
import { type FilterBlock, findFilterBlock } from '../../format/filter/filter-block.ts';
import { openFilter } from '../../format/filter/open-filter.ts';
import { IndexCursor } from '../../format/index/index-cursor.ts';
import type { TableReader } from '../../format/table-reader.ts';
import type { PrefixExtractor } from '../../operators/prefix-extractor.ts';
import type { Step } from './explanation.ts';
import { askWithProbes } from './filter-probes.ts';
import type { TracedBlocks } from './traced-blocks.ts';
import type { TracedTarget } from './traced-target.ts';

export interface FilterOptions {
  /** Extractor of the reader. Default: that of the file. */
  readonly prefixExtractor?: PrefixExtractor | undefined;
  readonly ignoreFilter?: boolean;
}

/** The look-up of one key, as far as the filter goes. */
export interface FilteredLookup {
  readonly table: TableReader;
  readonly environment: LookupEnvironment;
  readonly options: FilterOptions;
  readonly target: TracedTarget;
  readonly blocks: TracedBlocks;
  /** Takes what was done. */
  readonly steps: Step[];
}

/** Whether the look-up goes on: the filter, where it is asked, does not deny the key. */
export function filterLetsPass(lookup: FilteredLookup): boolean {
  const { blocks, table, options, steps } = lookup;
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
    steps.push({ step: 'filter', text });
    return true;
  }
  const end = probeEnd(lookup);
  if (end === undefined) return true;
  try {
    return askFilter(lookup, found, end);
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    const text = `cannot be read, and is not asked: ${blocks.placed(error).message}`;
    steps.push({ step: 'filter', text, facts: { asked: false } });
    return true;
  }
}

function askFilter(lookup: FilteredLookup, found: FilterBlock, end: number): boolean {
  const { blocks, table, target, environment, steps } = lookup;
  let handle: BlockHandle = found.entry;
  if (found.layout === 'partitioned') {
    const top = blocks.read(found.entry, 'filter_index');
    const range = blocks.range;
    const cursor = new IndexCursor({ ...table.index!, firstKeys: false });
    cursor.load(new ParsedBlock(top));
    const isFound = cursor.seek(target) || cursor.seekToLast();
    steps.push({
      step: 'filter_index',
      range,
      text: isFound ? `the partition at ${cursor.offset} knows the key` : 'the filter has no partition',
      comparisons: target.take(),
    });
    if (!isFound) return true;
    handle = { offset: cursor.offset, size: cursor.size };
  }
  const contents = blocks.read(handle, found.layout === 'partitioned' ? 'filter_partition' : 'filter');
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
  steps.push({
    step: 'filter',
    range: blocks.range,
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
function probeEnd({ table, target, options, steps }: FilteredLookup): number | undefined {
  const { properties } = table;
  if (properties?.get('rocksdb.block.based.table.whole.key.filtering') !== false) return target.userKeyEnd;
  const given = options.prefixExtractor;
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
  steps.push({
    step: 'filter',
    text: `has prefixes alone, and is not asked: ${reason}`,
    facts: { asked: false },
  });
  return undefined;
}
