import { CompressionType } from '../codec/registry.ts';
import { SstError, withPending } from '../errors.ts';
import { decodeBlockLayout } from '../format/block/block-layout.ts';
import type { BlockHandle } from '../format/block-handle.ts';
import type { BlockType } from '../format/block-type.ts';
import type { CuckooSummary } from '../format/cuckoo/cuckoo-table.ts';
import type { Footer } from '../format/footer.ts';
import { indexTypeName } from '../format/index/index-block-iterator.ts';
import type { TableFormat } from '../format/magic.ts';
import { COMPRESSION_DICT_BLOCK, type MetaindexEntry } from '../format/metaindex.ts';
import { PlainEncoding } from '../format/plain/plain-table-iterator.ts';
import type { TableProperties } from '../format/properties.ts';
import type { TableReader } from '../format/table-reader.ts';
import { ChecksumType, checksumName } from '../hash/registry.ts';
import { comparatorByName } from '../operators/comparator.ts';
import { type Compatibility, compatibilityOf } from './compatibility.ts';
import { zstdDictionaryId } from './dump/describe-block.ts';
import { describeFilter, type FilterSummary } from './dump/describe-filter.ts';
import { describeProperties, type PropertyView } from './dump/describe-properties.ts';
import { withLostKeys } from './dump/lost-keys.ts';
import { type DumpSubject, placedFinding } from './dump/open-subject.ts';
import { type BlockSample, sampleBlocks } from './dump/sample-blocks.ts';
import { type BlockSurvey, type KindTotals, surveyBlocks } from './dump/survey-blocks.ts';
import type { Finding } from './finding.ts';

/** What a table file is made of. */
export interface TableDump {
  readonly path: string;
  readonly size: number;
  /** Undefined where the footer is lost. */
  readonly footer: Footer | undefined;
  /** RocksDB's format_version 0 has LevelDB's magic number and is `block-based` here. */
  readonly format: TableFormat;
  /** Name of the checksum that the blocks have. */
  readonly checksum: string;
  /** The index block, whether footer or metaindex names it. */
  readonly indexHandle: BlockHandle | undefined;
  readonly metaindex: readonly MetaindexEntry[] | undefined;
  readonly properties: PropertyView;
  readonly index: IndexSummary | undefined;
  readonly filter: FilterSummary | null;
  readonly dictionary: DictionarySummary | null;
  /** Undefined where their block cannot be read. */
  readonly rangeTombstones: number | undefined;
  readonly globalSeqno: GlobalSeqno | null;
  readonly timestamps: TimestampSummary | null;
  readonly blocks: BlockSurvey['kinds'];
  readonly sample: BlockSample;
  readonly plain: PlainSummary | null;
  readonly cuckoo: CuckooSummary | null;
  readonly compatibility: Compatibility;
  readonly recovered: boolean;
  readonly appendedBytes: number;
  readonly findings: readonly Finding[];
}

export interface IndexSummary {
  /** `binary_search` ... */
  readonly type: string;
  /** Entries that point to data blocks. */
  readonly entries: number;
  /** 0: one index block. */
  readonly partitions: number;
  readonly userKeys: boolean;
  readonly deltaValues: boolean;
  readonly firstKeys: boolean;
  /** The keys of its blocks are marked as evenly spread. */
  readonly uniformKeys: boolean;
  /** The properties did not say how it is encoded. */
  readonly guessed: boolean;
}

export interface DictionarySummary extends BlockHandle {
  /** Whether any data block is compressed in a way that needs it. */
  readonly used: boolean;
  /** Number in the header of a dictionary that zstd has trained; undefined for raw contents. */
  readonly zstdId: number | undefined;
}

/** Of files that were written to be ingested. */
export interface GlobalSeqno {
  /** What the entries carry. */
  readonly stored: bigint;
  /** What counts: the number that ingestion wrote into the file. */
  readonly effective: bigint;
}

export interface TimestampSummary {
  readonly sizeBytes: number;
  /** False: the keys are stored without. */
  readonly persisted: boolean;
  /** As stored, of all entries; undefined where the file does not say it. */
  readonly min: Uint8Array | undefined;
  readonly max: Uint8Array | undefined;
}

export interface PlainSummary {
  /** Rows are [0, rowsEnd) of the file. */
  readonly rowsEnd: number | undefined;
  readonly encoding: number | undefined;
  readonly isPrefixEncoded: boolean;
  /** Bytes of each user key; 0: each row tells its own. */
  readonly keyLength: number | undefined;
}

const MAX_FINDINGS = 1000;

/** Without a footer only the properties may tell the format version, and they may say 0 for whatever it is. */
const UNKNOWN_VERSION = -1;

/** Findings in the order in which they were made, each one once. */
export class FindingList {
  readonly findings: Finding[] = [];
  private readonly seen = new Set<string>();

  constructor(private readonly heard: (finding: Finding) => void) {}

  add(finding: Finding): void {
    const key = `${finding.code}:${finding.block?.offset ?? finding.message}`;
    if (this.seen.has(key)) return;
    this.seen.add(key);
    this.heard(finding);
    if (this.findings.length < MAX_FINDINGS) this.findings.push(finding);
  }
}

/**
 * Describes the table file. Reads it once from front to back to count its blocks and to compare their checksums;
 * data blocks are not decompressed, but for a sample of them. What is damaged is left out and said in `findings`.
 */
export async function dumpTable(
  subject: DumpSubject,
  findings: FindingList,
  advanced?: (offset: number) => void,
): Promise<TableDump> {
  for (const finding of subject.findings) findings.add(finding);
  const parts =
    subject.table === undefined ? bareParts(subject) : await blockParts(subject, findings, advanced);
  const { properties } = subject;
  const format = formatOf(subject);
  const filter = describeFilter(subject);
  const comparator = comparatorByName(properties?.get('rocksdb.comparator') ?? '');
  const timestampSize = subject.table?.timestampSize ?? comparator?.timestampSize ?? 0;
  const compressionTypes = new Set<number>();
  for (const { compressions } of parts.blocks.values()) {
    for (const { typeBytes } of compressions.values())
      for (const type of typeBytes) compressionTypes.add(type);
  }
  compressionTypes.delete(CompressionType.none);
  const checksumType = (subject.footer ?? subject.table?.footer)?.checksumType ?? ChecksumType.none;
  const compatibility = compatibilityOf({
    format,
    formatVersion:
      subject.footer?.formatVersion ?? (properties?.count('rocksdb.format.version') || UNKNOWN_VERSION),
    checksumType,
    indexType: subject.table?.index?.type,
    filterKind: filter?.kind,
    filterPartitions: filter?.partitions ?? 0,
    compressionTypes,
    usesDictionary: parts.dictionary?.used ?? false,
    rangeTombstones: parts.rangeTombstones ?? 0,
    properties,
    entryTypes: parts.sample.entryTypes,
    entityVersions: parts.sample.entityVersions,
    hashIndexInBlocks: parts.sample.hashIndex,
    separatedKeys: parts.sample.separated,
    uniformKeys: parts.index?.uniformKeys ?? false,
    timestampSize,
  });
  noteOddities(subject, filter, parts.dictionary, findings);
  return {
    path: subject.path,
    size: subject.source.size,
    footer: subject.footer,
    format,
    checksum: checksumName(checksumType) ?? 'none',
    indexHandle: subject.table?.index?.handle,
    metaindex: subject.metaindex,
    properties: describeProperties(subject),
    filter,
    ...parts,
    globalSeqno: globalSeqnoOf(properties),
    timestamps: timestampsOf(subject, timestampSize),
    plain: plainOf(subject),
    cuckoo: subject.cuckoo?.summary ?? null,
    compatibility,
    recovered: subject.recovered,
    appendedBytes: subject.appendedBytes,
    findings: findings.findings,
  };
}

type Parts = Pick<TableDump, 'index' | 'dictionary' | 'rangeTombstones' | 'blocks' | 'sample'>;

async function blockParts(
  subject: DumpSubject,
  findings: FindingList,
  advanced: ((offset: number) => void) | undefined,
): Promise<Parts> {
  const { order } = subject;
  const table = subject.table!;
  const attempt = async <T>(step: () => T): Promise<T | undefined> => {
    try {
      return await withPending(step);
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      findings.add(placedFinding(error, order));
      return undefined;
    }
  };
  const dictionaryEntry = table.metaBlock(COMPRESSION_DICT_BLOCK);
  const dictionary = await attempt(() => table.readDictionary());
  const dictionaryLost = dictionaryEntry !== undefined && dictionary === undefined;
  const heard: Finding[] = [];
  const survey = await surveyBlocks(table, order, dictionary, {
    finding: (finding) => heard.push(finding),
    advanced,
  });
  for (const finding of await withLostKeys(subject, dictionary, heard)) findings.add(finding);
  const sample = await sampleBlocks(table, order, dictionary, (error) => {
    if (dictionaryLost && error.code === 'block_decompress') return;
    findings.add(placedFinding(error, order));
  });
  const tombstones = await attempt(() => table.readRangeTombstones().length);
  return {
    index: await attempt(() => describeIndex(subject)),
    dictionary:
      dictionaryEntry === undefined
        ? null
        : {
            offset: dictionaryEntry.offset,
            size: dictionaryEntry.size,
            used: survey.takesDictionary,
            zstdId: dictionary === undefined ? undefined : zstdDictionaryId(dictionary),
          },
    rangeTombstones: isBlockListKnown(subject) ? tombstones : undefined,
    blocks: survey.kinds,
    sample,
  };
}

function bareParts(subject: DumpSubject): Parts {
  const kinds = new Map<BlockType, KindTotals>();
  const { order } = subject;
  for (let i = 0; i < order.count; i++) {
    const { type, size } = order.at(i);
    // Rows stand in no blocks.
    if (type === 'data') continue;
    const kind = kinds.get(type) ?? { count: 0, bytes: 0, rawBytes: 0, compressions: new Map() };
    const none = kind.compressions.get('none') ?? {
      count: 0,
      bytes: 0,
      rawBytes: 0,
      typeBytes: new Set([CompressionType.none]),
      codecs: new Set(),
    };
    for (const totals of [kind, none]) {
      totals.count++;
      totals.bytes += size;
      totals.rawBytes = (totals.rawBytes ?? 0) + size;
    }
    kind.compressions.set('none', none);
    kinds.set(type, kind);
  }
  return {
    index: undefined,
    dictionary: null,
    rangeTombstones: 0,
    blocks: kinds,
    sample: {
      blocks: 0,
      of: 0,
      hashIndex: false,
      separated: false,
      entryTypes: new Set(),
      entityVersions: new Set(),
    },
  };
}

function describeIndex(subject: DumpSubject): IndexSummary | undefined {
  const table = subject.table!;
  const { index } = table;
  if (index === undefined) return undefined;
  return {
    type: indexTypeName(index.type) ?? `type_${index.type}`,
    entries: subject.order.countOf('data'),
    partitions: subject.order.countOf('index_partition'),
    userKeys: index.userKeys,
    deltaValues: index.deltaValues,
    firstKeys: index.firstKeys,
    uniformKeys: hasUniformKeys(table),
    guessed: index.guessed,
  };
}

/** False: there may be a block of range tombstones that nothing points to any more. */
function isBlockListKnown({ footer, metaindex }: DumpSubject): boolean {
  return (
    metaindex !== undefined && (footer !== undefined || metaindex.some(({ type }) => type === 'range_del'))
  );
}

/** A property says it since 11.2; in 11.1 only the blocks themselves. */
function hasUniformKeys({ blocks, index, properties }: TableReader): boolean {
  const count = properties?.count('rocksdb.num.uniform.blocks');
  if (count !== undefined || index === undefined || index.handle.size > MAX_INDEX_READ_AGAIN) {
    return (count ?? 0) > 0;
  }
  return decodeBlockLayout(blocks.read(index.handle, 'index')).uniformKeys;
}

/** Bytes. A larger index is not decompressed a second time. */
const MAX_INDEX_READ_AGAIN = 1024 * 1024;

function formatOf({ footer, table, plain }: DumpSubject): TableFormat {
  if (table !== undefined)
    return table.family === 'rocksdb' || footer === undefined ? 'block-based' : 'leveldb';
  return plain !== undefined ? 'plain' : 'cuckoo';
}

/** A file that is written to be ingested carries 0 in every entry; the property has what ingestion gave it, or 0. */
function globalSeqnoOf(properties: TableProperties | undefined): GlobalSeqno | null {
  if (properties?.get('rocksdb.external_sst_file.version') !== 2) return null;
  return { stored: 0n, effective: properties.get('rocksdb.external_sst_file.global_seqno') ?? 0n };
}

function timestampsOf({ table, properties }: DumpSubject, sizeBytes: number): TimestampSummary | null {
  const min = properties?.get('rocksdb.timestamp_min');
  const max = properties?.get('rocksdb.timestamp_max');
  if (sizeBytes === 0 && min === undefined && max === undefined) return null;
  return { sizeBytes, persisted: table?.timestampsPersisted ?? true, min, max };
}

function plainOf({ plain }: DumpSubject): PlainSummary | null {
  if (plain === undefined) return null;
  const { rowsEnd, encoding, keyLength } = plain;
  return { rowsEnd, encoding, keyLength, isPrefixEncoded: encoding === PlainEncoding.prefix };
}

/** What is no damage and yet worth knowing. */
function noteOddities(
  subject: DumpSubject,
  filter: FilterSummary | null,
  dictionary: DictionarySummary | null,
  findings: FindingList,
): void {
  const { metaindex, order, properties, table } = subject;
  const note = (code: string, message: string, handle?: BlockHandle): void => {
    const at = handle === undefined ? -1 : order.find(handle.offset);
    findings.add({ code, severity: 'note', message, ...(at < 0 ? {} : { block: order.at(at) }) });
  };
  if (dictionary !== null && !dictionary.used) {
    note('dictionary_unused', 'unused dictionary: no data block is compressed with it', dictionary);
  }
  if (filter?.kind === 'block_based' && table?.family !== 'leveldb') {
    const entry = metaindex?.find(({ name }) => name === filter.metaindexName);
    note(
      'filter_obsolete',
      'a filter of the old block-based kind, which RocksDB passes over since 7.0',
      entry,
    );
  } else if (filter !== null && !filter.isRead) {
    const entry = metaindex?.find(({ name }) => name === filter.metaindexName);
    note('filter_not_read', `no reader looks for a filter named ${filter.metaindexName}`, entry);
  }
  for (const name of properties?.malformed ?? []) {
    note('property_malformed', `the value of property ${name} does not decode: it is left out`);
  }
}
