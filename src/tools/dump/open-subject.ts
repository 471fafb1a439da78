import type { ByteSource } from '../../bytes/source.ts';
import type { Environment } from '../../engine/environment.ts';
import { SstError } from '../../errors.ts';
import type { BlockType } from '../../format/block-type.ts';
import { type CuckooTable, openCuckooTable } from '../../format/cuckoo/cuckoo-table.ts';
import { type Footer, readFooter } from '../../format/footer.ts';
import type { DataBlockList, IndexProblem } from '../../format/index/data-blocks.ts';
import { IndexType } from '../../format/index/index-block-iterator.ts';
import { type MetaindexEntry, PARTITIONED_FILTER_PREFIX } from '../../format/metaindex.ts';
import type { PlainTable } from '../../format/plain/plain-table.ts';
import type { TableProperties } from '../../format/properties.ts';
import type { EntryShape } from '../../format/table-entry.ts';
import type { TableReader } from '../../format/table-reader.ts';
import { comparatorByName } from '../../operators/comparator.ts';
import { type Finding, findingOf } from '../finding.ts';
import type { OpenInput } from '../input.ts';
import { type OpenOptions, openTableFile } from '../open-any-table.ts';
import { BlockOrder } from './block-order.ts';
import { listFilterPartitions } from './filter-partitions.ts';

/** A table file opened to be looked at: of any format, as far as its state allows. */
export interface DumpSubject {
  readonly path: string;
  readonly source: ByteSource;
  /** Undefined where it is lost. */
  readonly footer: Footer | undefined;
  /** Undefined where they cannot be read. */
  readonly metaindex: readonly MetaindexEntry[] | undefined;
  readonly properties: TableProperties | undefined;
  /** Exactly one of the three is there. */
  readonly table?: TableReader;
  readonly plain?: PlainTable;
  readonly cuckoo?: CuckooTable;
  /** Every block that is known of, in the order of the file. */
  readonly order: BlockOrder;
  /** Parts of the index that cannot be read, each with the number of data blocks before it. */
  readonly indexProblems: readonly IndexProblem[];
  /** The data blocks were found by their checksums: the index is lost. */
  readonly recovered: boolean;
  readonly appendedBytes: number;
  readonly shape: EntryShape;
  /** What was found while opening, each with its place. */
  readonly findings: Finding[];
}

/** Throws SstError when nothing of the file can be read. */
export async function openSubject(
  environment: Environment,
  input: OpenInput,
  options: OpenOptions,
): Promise<DumpSubject> {
  const { source, file } = input;
  const cuckoo = openAsCuckoo(environment, source);
  if (cuckoo !== undefined) return bareSubject(file.path, cuckoo, { cuckoo }, options);
  const opened = await openTableFile(environment, source, input.kind, { ...options, separators: false });
  if (opened.plain !== undefined)
    return bareSubject(file.path, opened.plain, { plain: opened.plain }, options);

  const { table, blocks, appendedBytes } = opened;
  const recovered = opened.recovered !== undefined;
  const footer = table.footer.size === 0 ? undefined : table.footer;
  const order = orderOfBlocks(table, blocks, footer);
  const partitions = await listFilterPartitions(table);
  for (let i = 0; i < partitions.count; i++) {
    order.add('filter_partition', partitions.offsets[i]!, partitions.sizes[i]!);
  }
  order.sort();
  const findings = [...opened.findings];
  if (partitions.fault !== undefined) findings.push(placedFinding(partitions.fault, order));
  // The list itself is let go: with the separators it takes more memory than all else.
  return {
    path: file.path,
    source,
    footer,
    metaindex: table.metaindex,
    properties: table.properties,
    table,
    order,
    indexProblems: recovered ? [] : blocks.problems,
    recovered,
    appendedBytes,
    shape: table,
    findings,
  };
}

function openAsCuckoo(environment: Environment, source: ByteSource): CuckooTable | undefined {
  try {
    const footer = readFooter(source, environment.hashes);
    return footer.format === 'cuckoo' ? openCuckooTable(source, footer) : undefined;
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    // Whatever it is, opening it as any other table will say it.
    return undefined;
  }
}

/** Plain and cuckoo tables: rows, then meta blocks without trailers. */
function bareSubject(
  path: string,
  table: PlainTable | CuckooTable,
  which: { plain: PlainTable } | { cuckoo: CuckooTable },
  options: OpenOptions,
): DumpSubject {
  const { source, footer, metaindex, properties, rowsEnd } = table;
  const order = new BlockOrder();
  if (rowsEnd !== undefined && rowsEnd > 0) order.add('data', 0, rowsEnd);
  for (const { type, offset, size } of metaindex ?? []) order.add(type, offset, size);
  order.add('metaindex', footer.metaindex.offset, footer.metaindex.size);
  order.sort();
  const findings = table.problems.map((error) => placedFinding(error, order));
  const comparator = options.comparator ?? comparatorByName(properties?.get('rocksdb.comparator') ?? '');
  return {
    path,
    source,
    footer,
    metaindex,
    properties,
    ...which,
    order,
    indexProblems: [],
    recovered: false,
    appendedBytes: source.size - footer.offset - footer.size,
    shape: {
      storedTimestampSize: options.timestampSize ?? comparator?.timestampSize ?? 0,
      globalSeqno: undefined,
    },
    findings,
  };
}

/** Room for them is made beforehand. */
const EXPECTED_META_BLOCKS = 64;

function orderOfBlocks(table: TableReader, blocks: DataBlockList, footer: Footer | undefined): BlockOrder {
  const order = new BlockOrder(blocks.count + blocks.partitions.count + EXPECTED_META_BLOCKS);
  for (let i = 0; i < blocks.count; i++) order.add('data', blocks.offsets[i]!, blocks.sizes[i]!);
  const { index } = table;
  if (index !== undefined) {
    const { partitions } = blocks;
    if (index.type === IndexType.twoLevel) {
      for (let i = 0; i < partitions.count; i++) {
        order.add('index_partition', partitions.offsets[i]!, partitions.sizes[i]!);
      }
    }
    order.add('index', index.handle.offset, index.handle.size);
  }
  for (const { type, offset, size } of table.metaindex ?? []) {
    if (type === 'index' && index !== undefined && offset === index.handle.offset) continue;
    order.add(type, offset, size);
  }
  if (footer !== undefined) order.add('metaindex', footer.metaindex.offset, footer.metaindex.size);
  return order;
}

/** An error as a finding, with the block that it speaks of. */
export function placedFinding(error: SstError, order: BlockOrder): Finding {
  const { offset, blockType } = error as { offset?: number; blockType?: BlockType };
  if (offset === undefined || blockType === undefined) return findingOf(error);
  const at = order.find(offset);
  if (at >= 0 && order.typeAt(at) === blockType) return findingOf(error, order.at(at));
  return findingOf(error, { type: blockType, offset, size: 0, ordinal: null });
}

/** The metaindex entry of the filter that a reader would use, else the first one there is. */
export function filterEntryOf(metaindex: readonly MetaindexEntry[] | undefined): MetaindexEntry | undefined {
  const filters = (metaindex ?? []).filter(({ type }) => type === 'filter' || type === 'filter_index');
  return filters.find(({ name }) => name.endsWith('.rocksdb.BuiltinBloomFilter')) ?? filters[0];
}

export function isPartitionedFilter(entry: MetaindexEntry): boolean {
  return entry.name.startsWith(PARTITIONED_FILTER_PREFIX);
}
