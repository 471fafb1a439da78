import { fromHex, utf8Bytes } from '../../bytes/text.ts';
import { DEFAULT_COMPRESSION_LEVEL } from '../../codec/encoder.ts';
import { InvalidArgumentError } from '../../errors.ts';
import type { CompressionOptions } from '../../format/table-builder/table-options.ts';
import { COMPARATOR_NAMES, type Comparator, comparatorByName } from '../../operators/comparator.ts';
import { COMPRESSION_TYPES } from './compression-types.ts';

/** What `--command=recompress` is told. */
export interface RecompressOptions {
  /** Members of the CompressionType enum, in this order; undefined: all that can be written. */
  readonly types: readonly string[] | undefined;
  readonly levelFrom: number;
  readonly levelTo: number;
  readonly blockSize: number;
  readonly enableIndexCompression: boolean;
  /** Only shown: there is one thread here, and zstd's pool. */
  readonly parallelThreads: number;
  readonly compressionOptions: CompressionOptions;
}

/** The command line of sst_dump, read from left to right as the real tool reads it. */

export const SST_DUMP_COMMANDS = ['check', 'scan', 'raw', 'verify', 'recompress', 'identify'] as const;
export type SstDumpCommand = (typeof SST_DUMP_COMMANDS)[number];

/** Whose text is printed: that of release 7.8.3 or of 11.9. */
export type Compat = '7.8' | '11';

export interface SstDumpArguments {
  /** Files and directories as typed. */
  readonly paths: readonly string[];
  readonly command: SstDumpCommand;
  readonly compat: Compat;
  /** Where raw dumps go. */
  readonly outputDirectory: string;
  readonly outputHex: boolean;
  readonly decodeBlobIndex: boolean;
  readonly showSequenceNumberType: boolean;
  readonly showProperties: boolean;
  readonly showSummary: boolean;
  readonly listMetaBlocks: boolean;
  readonly from: Uint8Array | undefined;
  readonly to: Uint8Array | undefined;
  readonly prefix: Uint8Array | undefined;
  /** Entries over all files. */
  readonly readLimit: number;
  readonly requireProperty: RegExp | undefined;
  readonly excludeProperty: RegExp | undefined;
  /** In place of the comparator that the properties name. */
  readonly comparator: Comparator | undefined;
  readonly recompress: RecompressOptions;
  /** URI of an Env or a FileSystem; empty when none is asked for. */
  readonly environmentUri: string;
}

/** What a command line asks for: work, or something that is answered at once. */
export type SstDumpRequest =
  | { readonly kind: 'work'; readonly arguments: SstDumpArguments }
  | { readonly kind: 'help' }
  | { readonly kind: 'version'; readonly compat: Compat }
  | { readonly kind: 'parse_internal_key'; readonly key: Uint8Array };

/** Wrong usage; the message is the tool's own text. */
export class SstDumpUsageError extends InvalidArgumentError {
  constructor(
    argument: string,
    message: string,
    /** Whether the list of flags follows. */
    readonly withHelp = false,
  ) {
    super('sst_dump', argument, message);
  }
}

type Switch =
  | 'output_hex'
  | 'decode_blob_index'
  | 'show_sequence_number_type'
  | 'input_key_hex'
  | 'verify_checksum'
  | 'show_properties'
  | 'show_summary'
  | 'list_meta_blocks'
  | 'enable_index_compression'
  | 'verify_compression'
  | 'compression_use_zstd_finalize_dict';

const SWITCHES: ReadonlySet<string> = new Set<Switch>([
  'output_hex',
  'decode_blob_index',
  'show_sequence_number_type',
  'input_key_hex',
  'verify_checksum',
  'show_properties',
  'show_summary',
  'list_meta_blocks',
  'enable_index_compression',
  'verify_compression',
  'compression_use_zstd_finalize_dict',
]);

/** Numbers that recompress takes, with their bounds and what is said beyond them. */
const NUMBERS: Readonly<Record<string, { label?: string; max?: number; beyond?: string }>> = {
  set_block_size: { label: 'block size' },
  block_size: { label: 'block size' },
  readahead_size: {},
  compression_level: {},
  compression_level_from: {},
  compression_level_to: {},
  compression_max_dict_bytes: { max: 0xffffffff, beyond: 'must be a uint32_t' },
  compression_zstd_max_train_bytes: { max: 0xffffffff, beyond: 'must be a uint32_t' },
  compression_max_dict_buffer_bytes: { max: Number.POSITIVE_INFINITY, beyond: 'must be positive' },
  compression_parallel_threads: { max: 100, beyond: 'out of range' },
};

/** Members of the CompressionType enum that stand for no codec, or for another one's number. */
const OTHER_TYPES: ReadonlySet<string> = new Set(['kZSTDNotFinalCompression', 'kDisableCompressionOption']);

const TRUE_WORDS: readonly string[] = ['true', '1', 'yes', 't', 'T', 'True'];
const FALSE_WORDS: readonly string[] = ['false', '0', 'no', 'f', 'F', 'False'];

/** Throws SstDumpUsageError. `--help`, `--version` and `--parse_internal_key` act the moment they are met. */
export function parseSstDumpArguments(argv: readonly string[]): SstDumpRequest {
  const switches = new Set<Switch>(['enable_index_compression']);
  const values = new Map<string, string>();
  const paths: string[] = [];
  let compat: Compat = '11';
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i]!;
    if (word === '--') {
      paths.push(...argv.slice(i + 1));
      break;
    }
    if (!word.startsWith('-')) {
      paths.push(word);
      continue;
    }
    const { name, value } = splitFlag(word);
    if (name === 'help' && value === undefined) return { kind: 'help' };
    if (name === 'version' && value === undefined) return { kind: 'version', compat };
    if (takeSwitch(switches, name, value, word)) continue;
    if (value === undefined) throw unrecognized(word);
    if (name === 'parse_internal_key') return { kind: 'parse_internal_key', key: internalKeyOf(value) };
    if (name === 'file') paths.push(value);
    else if (name === 'compat') compat = compatOf(value);
    else if (name === 'compression_types') values.set(name, checkedTypes(value));
    else if (NUMBERS[name] !== undefined) values.set(name, numberOf(name, value, word));
    else if (VALUES.has(name) && (name !== 'read_num' || /^\s*\+?\d+$/.test(value))) values.set(name, value);
    else throw unrecognized(word);
  }
  return { kind: 'work', arguments: assemble(paths, switches, values, compat) };
}

/** Flags whose value is kept as text. */
const VALUES: ReadonlySet<string> = new Set([
  'command',
  'env_uri',
  'fs_uri',
  'from',
  'to',
  'prefix',
  'read_num',
  'output_dir',
  'comparator',
  'require_property_regex',
  'exclude_property_regex',
  'compression_manager',
]);

function assemble(
  paths: readonly string[],
  switches: ReadonlySet<Switch>,
  values: ReadonlyMap<string, string>,
  compat: Compat,
): SstDumpArguments {
  const onlyOneLevel = !values.has('compression_level') && values.has('compression_level_from');
  if (onlyOneLevel !== (!values.has('compression_level') && values.has('compression_level_to'))) {
    throw new SstDumpUsageError(
      'compression_level_from',
      'Specify both --compression_level_from and --compression_level_to.\n',
    );
  }
  if (values.has('prefix') && values.has('from')) {
    throw new SstDumpUsageError('prefix', 'Cannot specify --prefix and --from\n');
  }
  const hex = switches.has('input_key_hex');
  const key = (name: string): Uint8Array | undefined => {
    const text = values.get(name);
    if (text === undefined) return undefined;
    return hex ? hexKeyOf(text) : utf8Bytes(text);
  };
  const from = key('from');
  const prefix = key('prefix');
  const to = key('to');
  if (paths.length === 0) {
    throw new SstDumpUsageError('file', 'file or directory must be specified.\n', true);
  }
  const readLimit = Number(values.get('read_num') ?? 0);
  return {
    paths,
    command: commandOf(values.get('command')),
    compat,
    outputDirectory: values.get('output_dir') ?? '',
    outputHex: switches.has('output_hex'),
    decodeBlobIndex: switches.has('decode_blob_index'),
    showSequenceNumberType: switches.has('show_sequence_number_type'),
    showProperties: switches.has('show_properties'),
    showSummary: switches.has('show_summary'),
    listMetaBlocks: switches.has('list_meta_blocks'),
    from,
    to,
    prefix,
    readLimit: readLimit === 0 ? Number.POSITIVE_INFINITY : readLimit,
    requireProperty: regexOf(values.get('require_property_regex')),
    excludeProperty: regexOf(values.get('exclude_property_regex')),
    comparator: comparatorOf(values.get('comparator')),
    recompress: recompressOptionsOf(values, switches),
    environmentUri: values.get('env_uri') || values.get('fs_uri') || '',
  };
}

/** `--a-b=c` is `--a_b=c`. */
function splitFlag(word: string): { name: string; value: string | undefined } {
  if (!word.startsWith('--')) throw unrecognized(word);
  const equals = word.indexOf('=');
  const name = (equals < 0 ? word.slice(2) : word.slice(2, equals)).replaceAll('-', '_');
  return { name, value: equals < 0 ? undefined : word.slice(equals + 1) };
}

function takeSwitch(switches: Set<Switch>, name: string, value: string | undefined, word: string): boolean {
  const negated = name.startsWith('no_') && SWITCHES.has(name.slice(3));
  const known = negated ? name.slice(3) : name;
  if (!SWITCHES.has(known)) return false;
  let on = true;
  if (value !== undefined && FALSE_WORDS.includes(value)) on = false;
  else if (value !== undefined && !TRUE_WORDS.includes(value)) throw unrecognized(word);
  if (on !== negated) switches.add(known as Switch);
  else switches.delete(known as Switch);
  return true;
}

function commandOf(name: string | undefined): SstDumpCommand {
  if (name === undefined || name === '') return 'check';
  const command = SST_DUMP_COMMANDS.find((each) => each === name);
  if (command !== undefined) return command;
  throw new SstDumpUsageError(
    'command',
    `unknown command '${name}': --command takes ${SST_DUMP_COMMANDS.join(', ')}`,
  );
}

function compatOf(value: string): Compat {
  if (value === '7.8' || value === '7.8.3' || value === '7') return '7.8';
  if (value === '11' || value === '11.9') return '11';
  throw new SstDumpUsageError('compat', `--compat takes 7.8 or 11, not '${value}'`);
}

function comparatorOf(name: string | undefined): Comparator | undefined {
  if (name === undefined) return undefined;
  const comparator = comparatorByName(name);
  if (comparator !== undefined) return comparator;
  throw new SstDumpUsageError(
    'comparator',
    `comparator '${name}' is not known here: --comparator takes ${COMPARATOR_NAMES.join(', ')}`,
  );
}

/** A number may have anything behind it, as with the real tool. */
function numberOf(name: string, value: string, word: string): string {
  const { label = name, max, beyond } = NUMBERS[name]!;
  const digits = /^\s*([+-]?\d+)/.exec(value)?.[1];
  if (digits === undefined) throw new SstDumpUsageError(name, `${label} must be numeric`);
  if (max !== undefined && (Number(digits) < 0 || Number(digits) > max)) {
    throw new SstDumpUsageError(name, `${name} ${beyond}: '${word}'`, true);
  }
  return digits;
}

function checkedTypes(list: string): string {
  for (const name of list.split(',')) {
    if (name === '' || COMPRESSION_TYPES.has(name) || OTHER_TYPES.has(name)) continue;
    if (/^kCustomCompression[0-9A-F]{2}$/.test(name)) continue;
    throw new SstDumpUsageError('compression_types', `${name} is not a valid CompressionType`);
  }
  return list;
}

function recompressOptionsOf(
  values: ReadonlyMap<string, string>,
  switches: ReadonlySet<Switch>,
): RecompressOptions {
  const number = (name: string, fallback: number): number => Number(values.get(name) ?? fallback);
  const level = number('compression_level', DEFAULT_COMPRESSION_LEVEL);
  const types = (values.get('compression_types') ?? '').split(',').filter((name) => name !== '');
  return {
    types: types.length > 0 ? types : undefined,
    levelFrom: values.has('compression_level')
      ? level
      : number('compression_level_from', DEFAULT_COMPRESSION_LEVEL),
    levelTo: values.has('compression_level')
      ? level
      : number('compression_level_to', DEFAULT_COMPRESSION_LEVEL),
    blockSize: number('block_size', number('set_block_size', DEFAULT_BLOCK_SIZE)),
    enableIndexCompression: switches.has('enable_index_compression'),
    parallelThreads: number('compression_parallel_threads', 1),
    compressionOptions: {
      maxDictBytes: number('compression_max_dict_bytes', 0),
      zstdMaxTrainBytes: number('compression_zstd_max_train_bytes', 0),
      maxDictBufferBytes: number('compression_max_dict_buffer_bytes', 0),
      useZstdDictTrainer: !switches.has('compression_use_zstd_finalize_dict'),
    },
  };
}

/** The tool's own, not that of tables. */
const DEFAULT_BLOCK_SIZE = 16384;

/** In an egrep pattern a line feed parts alternatives; what else differs between the grammars is rare. */
function regexOf(pattern: string | undefined): RegExp | undefined {
  if (pattern === undefined) return undefined;
  const classes: Readonly<Record<string, string>> = {
    alpha: 'A-Za-z',
    digit: '0-9',
    alnum: 'A-Za-z0-9',
    upper: 'A-Z',
    lower: 'a-z',
    space: '\\s',
    xdigit: '0-9A-Fa-f',
  };
  const translated = pattern
    .replaceAll('\n', '|')
    .replace(/\[:(\w+):\]/g, (whole, name: string) => classes[name] ?? whole);
  try {
    return new RegExp(translated);
  } catch {
    throw new SstDumpUsageError('property_regex', `'${pattern}' is not a regular expression`);
  }
}

function hexKeyOf(text: string): Uint8Array {
  const bytes = text.startsWith('0x') ? fromHex(text.slice(2)) : undefined;
  if (bytes !== undefined) return bytes;
  const why = text.startsWith('0x') ? 'an even number of hex digits has to follow 0x' : 'Must start with 0x';
  throw new SstDumpUsageError('input_key_hex', `Invalid hex input ${text}.  ${why}`);
}

function internalKeyOf(text: string): Uint8Array {
  try {
    return hexKeyOf(text);
  } catch (error) {
    if (!(error instanceof SstDumpUsageError)) throw error;
    const hint = `ERROR: Invalid key input '${text}' Use 0x{hex representation of internal rocksdb key}`;
    throw new SstDumpUsageError(
      'parse_internal_key',
      text.startsWith('0x') ? hint : `${error.message}\n${hint}`,
    );
  }
}

function unrecognized(word: string): SstDumpUsageError {
  return new SstDumpUsageError(word, `Unrecognized argument '${word}'\n`, true);
}
