import { CorruptionError, type SstError, UnsupportedError } from '../../errors.ts';
import type { BlockType } from '../../format/block-type.ts';
import type { Footer } from '../../format/footer.ts';
import { contextModifier } from '../../hash/block-checksum.ts';
import { ChecksumType } from '../../hash/registry.ts';
import type { Finding } from '../../tools/finding.ts';
import type { Compat } from './arguments.ts';

/** Faults in the words of RocksDB's Status, where it has words for them. */

/** Names of release 11's BlockType. */
const BLOCK_TYPE_NAMES: Readonly<Record<BlockType, string>> = {
  data: 'Data',
  filter: 'Filter',
  filter_partition: 'Filter',
  filter_index: 'FilterPartitionIndex',
  properties: 'Properties',
  compression_dict: 'CompressionDictionary',
  range_del: 'RangeDeletion',
  hash_prefixes: 'HashIndexPrefixes',
  hash_metadata: 'HashIndexMetadata',
  metaindex: 'MetaIndex',
  index: 'Index',
  index_partition: 'Index',
  user_defined_index: 'UserDefinedIndex',
  footer: 'Invalid',
  unknown: 'Invalid',
};

/** Where a fault is, as far as that is known. */
export interface FaultPlace {
  readonly offset: number;
  readonly blockType: BlockType;
  /** Without the trailer. */
  readonly size: number | undefined;
}

export interface StatusContext {
  readonly path: string;
  readonly compat: Compat;
  readonly footer: Footer | undefined;
}

/** What could not be opened or read at all. */
export function openFailureText(error: SstError, path: string): string {
  if (error instanceof UnsupportedError) return `Not implemented: ${error.reason}`;
  if (error instanceof CorruptionError) return `Corruption: ${error.reason}`;
  const text = error.message.startsWith(`${path}: `) ? error.message.slice(path.length + 2) : error.message;
  switch (error.code) {
    case 'empty':
      return `Operation aborted: ${path}: Empty file`;
    case 'not_found':
      return `NotFound: ${path}: No such file or directory`;
    case 'permission':
      return `IO error: While open a file for random read: ${path}: Permission denied`;
    case 'io_error':
    case 'is_directory':
      return `IO error: ${path}: ${text}`;
    default:
      return `Corruption: ${text}`;
  }
}

export function findingText(finding: Finding, context: StatusContext, place: FaultPlace | undefined): string {
  if (finding.severity === 'warning') return `Not implemented: ${finding.message}`;
  if (finding.code === 'block_checksum' && finding.stored !== undefined && finding.computed !== undefined) {
    const [stored, computed] = [finding.stored, finding.computed].map((hex) => Number.parseInt(hex, 16));
    return checksumText(stored!, computed!, context, place);
  }
  const where = place === undefined ? '' : ` in ${context.path} offset ${place.offset}`;
  const head = finding.code === 'entry_malformed' ? 'bad entry in block: ' : '';
  return `Corruption: ${head}${finding.message}${where}`;
}

/**
 * The checksums without the file's context, and those of CRC-32C without their mask: what a reader would compute
 * over the block's bytes.
 */
function checksumText(
  stored: number,
  computed: number,
  { path, compat, footer }: StatusContext,
  place: FaultPlace | undefined,
): string {
  const type = footer?.checksumType ?? ChecksumType.none;
  const modifier = place === undefined ? 0 : contextModifier(footer?.baseContextChecksum ?? 0, place.offset);
  const shown = (checksum: number): number => {
    const plain = (checksum - modifier) >>> 0;
    return type === ChecksumType.crc32c ? unmaskCrc32c(plain) : plain;
  };
  const where =
    place === undefined
      ? ''
      : ` offset ${place.offset}${place.size === undefined ? '' : ` size ${place.size}`}`;
  const kind = compat === '7.8' ? '' : `, block_type = ${BLOCK_TYPE_NAMES[place?.blockType ?? 'unknown']}`;
  return (
    `Corruption: block checksum mismatch: stored${modifier === 0 ? '' : '(context removed)'} = ${shown(stored)}, ` +
    `computed = ${shown(computed)}, type = ${type}  in ${path}${where}${kind}`
  );
}

const CRC32C_MASK_DELTA = 0xa282ead8;

function unmaskCrc32c(masked: number): number {
  const rotated = (masked - CRC32C_MASK_DELTA) >>> 0;
  return ((rotated >>> 17) | (rotated << 15)) >>> 0;
}
