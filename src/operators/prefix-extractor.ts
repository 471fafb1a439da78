import { toHex, utf8Bytes } from '../bytes/text.ts';
import { InvalidArgumentError } from '../errors.ts';

/**
 * Which part of a user key is its prefix: filters and hash indexes of a table may be made of prefixes. A prefix is
 * always the beginning of its key.
 */
export interface PrefixExtractor {
  /** As in property `rocksdb.prefix.extractor.name`: equal names are taken for equal functions. */
  readonly name: string;
  /** Whether the user key `key[start, end)`, without timestamp, has a prefix. */
  inDomain(key: Uint8Array, start: number, end: number): boolean;
  /** Where the prefix of a key in the domain ends: `start` to `end`. */
  prefixEnd(key: Uint8Array, start: number, end: number): number;
}

/** The first `length` bytes of keys that have so many. */
export function fixedPrefix(length: number): PrefixExtractor {
  return {
    name: `${FIXED}.${length}`,
    inDomain: (_key, start, end) => end - start >= length,
    prefixEnd: (_key, start) => start + length,
  };
}

/** The first `length` bytes; of a shorter key all of it. */
export function cappedPrefix(length: number): PrefixExtractor {
  return {
    name: `${CAPPED}.${length}`,
    inDomain: () => true,
    prefixEnd: (_key, start, end) => Math.min(start + length, end),
  };
}

/** The whole key is its prefix. */
export const noopPrefix: PrefixExtractor = {
  name: 'rocksdb.Noop',
  inDomain: () => true,
  prefixEnd: (_key, _start, end) => end,
};

/**
 * What stands before the first of these bytes; of a key without any of them all of it. Applications have extractors
 * like it, each under a name of its own.
 */
export function prefixBefore(
  delimiters: Uint8Array,
  name = `${BEFORE}.${toHex(delimiters)}`,
): PrefixExtractor {
  const isDelimiter = new Uint8Array(256);
  for (const byte of delimiters) isDelimiter[byte] = 1;
  return {
    name,
    inDomain: () => true,
    prefixEnd(key, start, end) {
      let at = start;
      while (at < end && isDelimiter[key[at]!] === 0) at++;
      return at;
    },
  };
}

/** Whether keys of one prefix stand side by side in bytewise order, whatever keys there are: RocksDB's own. */
export function keepsGroupsTogether({ name }: PrefixExtractor): boolean {
  return name === noopPrefix.name || name.startsWith(`${FIXED}.`) || name.startsWith(`${CAPPED}.`);
}

/** What a name says. */
export type NamedPrefixExtractor =
  | { readonly status: 'none' }
  | { readonly status: 'known'; readonly extractor: PrefixExtractor }
  /** RocksDB's own, but its length was not written: only a reader that is told it can ask for prefixes. */
  | { readonly status: 'incomplete'; readonly name: string }
  /** The application's own. */
  | { readonly status: 'unknown'; readonly name: string };

const FIXED = 'rocksdb.FixedPrefix';
const CAPPED = 'rocksdb.CappedPrefix';
const BEFORE = 'sstkit.PrefixBefore';
const NONE: NamedPrefixExtractor = { status: 'none' };
/** `fixed:8`, `rocksdb.FixedPrefix.8`, and the same for capped. */
const WITH_LENGTH = /^(?:(fixed|capped):|(rocksdb\.FixedPrefix|rocksdb\.CappedPrefix)\.)(\d{1,9})$/;
const WITHOUT_LENGTH: Readonly<Record<string, string>> = {
  fixed: FIXED,
  capped: CAPPED,
  [FIXED]: FIXED,
  [CAPPED]: CAPPED,
};

/**
 * Reads a name as properties, OPTIONS files and flags spell it: `rocksdb.FixedPrefix.8`, `fixed:8`,
 * `{id=rocksdb.FixedPrefix.8}`, `{id=rocksdb.FixedPrefix;length=8}`, `rocksdb.Noop`, `noop`; `nullptr`, `none` or
 * nothing for no extractor. `custom` are extractors of the application, found by their names.
 */
export function prefixExtractorByName(
  text: string | undefined,
  custom: readonly PrefixExtractor[] = [],
): NamedPrefixExtractor {
  const { id, options } = parseCustomizable(text ?? '');
  if (id === '' || id === 'nullptr' || id === 'none') return NONE;
  const own = custom.find(({ name }) => name === id);
  if (own !== undefined) return { status: 'known', extractor: own };
  if (id === noopPrefix.name || id === 'noop') return { status: 'known', extractor: noopPrefix };
  const length = options.get('length');
  const plain = WITHOUT_LENGTH[id];
  if (plain !== undefined && length === undefined) return { status: 'incomplete', name: id };
  const match = WITH_LENGTH.exec(plain === undefined ? id : `${plain}.${length}`);
  if (match === null) return { status: 'unknown', name: id };
  const make = match[1] === 'fixed' || match[2] === FIXED ? fixedPrefix : cappedPrefix;
  return { status: 'known', extractor: make(Number(match[3])) };
}

/**
 * The extractor that the user named; undefined for `none`. Beside the names above: `before:<characters>`, and
 * `NAME=...` for an extractor of the application that does the same under that name. Throws InvalidArgumentError.
 */
export function prefixExtractorOf(
  text: string,
  custom: readonly PrefixExtractor[] = [],
): PrefixExtractor | undefined {
  const renamed = /^([^={}:;]+)=((?:fixed|capped|before):.+|noop)$/s.exec(text);
  if (renamed !== null) return { ...prefixExtractorOf(renamed[2]!)!, name: renamed[1]! };
  const before = /^before:(.+)$/s.exec(text);
  if (before !== null) return prefixBefore(utf8Bytes(before[1]!));
  const named = prefixExtractorByName(text, custom);
  if (named.status === 'none') return undefined;
  if (named.status === 'known') return named.extractor;
  const problem =
    named.status === 'incomplete'
      ? `prefix extractor ${text} lacks its length, as in fixed:8`
      : `prefix extractor ${text} is not known here: there are fixed:<bytes>, capped:<bytes>, before:<characters>, ` +
        'noop and none; NAME=fixed:<bytes> is one of your own by that name';
  throw new InvalidArgumentError('prefix-extractor', text, problem);
}

/** An object in an OPTIONS file: its id, and options of its own. */
export interface Customizable {
  readonly id: string;
  readonly options: ReadonlyMap<string, string>;
}

/** Reads `id`, or `{id=name;option=value;}` with or without braces. */
export function parseCustomizable(text: string): Customizable {
  const body = text.trim().replace(/^\{(.*)\}$/s, '$1');
  const options = new Map<string, string>();
  if (!body.includes('=')) return { id: body.trim(), options };
  for (const part of body.split(';')) {
    const equals = part.indexOf('=');
    if (equals >= 0) options.set(part.slice(0, equals).trim(), part.slice(equals + 1).trim());
  }
  const id = options.get('id') ?? '';
  options.delete('id');
  return { id, options };
}
