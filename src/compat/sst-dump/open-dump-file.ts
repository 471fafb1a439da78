import type { Environment, FileSource } from '../../engine/environment.ts';
import { SstError } from '../../errors.ts';
import { openCuckooTable } from '../../format/cuckoo/cuckoo-table.ts';
import { detectFileKind } from '../../format/file-kind.ts';
import { type Footer, readFooter } from '../../format/footer.ts';
import type { DataBlockList } from '../../format/index/data-blocks.ts';
import type { MetaindexEntry } from '../../format/metaindex.ts';
import type { PlainTable } from '../../format/plain/plain-table.ts';
import type { TableProperties } from '../../format/properties.ts';
import type { TableReader } from '../../format/table-reader.ts';
import type { Comparator } from '../../operators/comparator.ts';
import { type Finding, findingOf } from '../../tools/finding.ts';
import { openTableFile } from '../../tools/open-any-table.ts';
import type { FaultPlace } from './status-text.ts';

/** A block-based table, opened for a dump. */
export interface BlockTable {
  readonly table: TableReader;
  readonly blocks: DataBlockList;
  /** The blocks were found without an index. */
  readonly recovered: boolean;
}

export interface DumpFile {
  /** As `Sst file format:` names it. */
  readonly format: 'block-based' | 'block-based(old version)' | 'plain table' | 'cuckoo table';
  readonly footer: Footer;
  readonly properties: TableProperties | undefined;
  readonly metaindex: readonly MetaindexEntry[] | undefined;
  /** What was wrong while opening. */
  readonly faults: readonly OpenFault[];
  /** At most one of these two. */
  readonly blockTable: BlockTable | undefined;
  readonly plain: PlainTable | undefined;
}

export interface OpenFault {
  readonly finding: Finding;
  readonly place: FaultPlace | undefined;
}

/** Throws SstError when nothing of the file can be read. */
export async function openDumpFile(
  environment: Environment,
  source: FileSource,
  { comparator }: { readonly comparator: Comparator | undefined },
): Promise<DumpFile> {
  const footer = readableFooter(source, environment);
  if (footer?.format === 'cuckoo') {
    const { metaindex, properties, problems } = openCuckooTable(source, footer);
    const faults = problems.map((error) => ({ finding: findingOf(error), place: undefined }));
    const format = 'cuckoo table';
    return { format, footer, properties, metaindex, faults, blockTable: undefined, plain: undefined };
  }
  const kind = detectFileKind(source, environment.hashes, source.name);
  const opened = await openTableFile(
    environment,
    source,
    kind,
    comparator === undefined ? {} : { comparator },
  );
  if (opened.plain !== undefined) {
    const { plain } = opened;
    const faults = opened.findings.map((finding) => ({ finding, place: undefined }));
    const { metaindex, properties } = plain;
    const format = 'plain table';
    return { format, footer: plain.footer, properties, metaindex, faults, blockTable: undefined, plain };
  }
  const { table, blocks } = opened;
  const { metaindex, properties } = table;
  return {
    format: table.family === 'leveldb' ? 'block-based(old version)' : 'block-based',
    footer: table.footer,
    properties,
    metaindex,
    faults: opened.findings.map((finding) => ({ finding, place: placeOfFinding(finding, table, blocks) })),
    blockTable: { table, blocks, recovered: opened.recovered !== undefined },
    plain: undefined,
  };
}

/**
 * Where a finding is. Those of single blocks say it themselves; for the others it is taken from the error that
 * they were made of, or from the metaindex.
 */
export function placeOfFinding(
  finding: Finding,
  table: TableReader,
  blocks: DataBlockList | undefined,
): FaultPlace | undefined {
  if (finding.block !== undefined) {
    const { type, offset, size } = finding.block;
    return type === 'footer' || type === 'unknown' ? undefined : { blockType: type, offset, size };
  }
  const errors = [...table.problems, ...(blocks?.problems.map(({ error }) => error) ?? [])];
  const error = errors.find((each) => (each as { reason?: string }).reason === finding.message);
  const place = error === undefined ? undefined : placeOfError(error, table, blocks);
  if (place !== undefined) return place;
  const dictionary = table.metaindex?.find(({ type }) => type === 'compression_dict');
  if (finding.code !== 'block_checksum' || dictionary === undefined) return undefined;
  return { blockType: 'compression_dict', offset: dictionary.offset, size: dictionary.size };
}

export function placeOfError(
  error: SstError,
  table: TableReader,
  blocks?: DataBlockList,
): FaultPlace | undefined {
  const { offset, blockType } = error as { offset?: number; blockType?: FaultPlace['blockType'] };
  if (offset === undefined || blockType === undefined || blockType === 'footer') return undefined;
  return { offset, blockType, size: sizeOfBlock(offset, table, blocks) };
}

function sizeOfBlock(
  offset: number,
  table: TableReader,
  blocks: DataBlockList | undefined,
): number | undefined {
  if (offset === table.footer.metaindex.offset) return table.footer.metaindex.size;
  if (offset === table.footer.index?.offset) return table.footer.index.size;
  const named = table.metaindex?.find((entry) => entry.offset === offset);
  if (named !== undefined) return named.size;
  const partitions = blocks?.partitions;
  if (partitions === undefined) return undefined;
  const at = partitions.offsets.subarray(0, partitions.count).indexOf(offset);
  return at < 0 ? undefined : partitions.sizes[at];
}

function readableFooter(source: FileSource, environment: Environment): Footer | undefined {
  try {
    return readFooter(source, environment.hashes);
  } catch (error) {
    if (error instanceof SstError) return undefined;
    throw error;
  }
}
