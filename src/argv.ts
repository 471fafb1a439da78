/**
 * The spellings of flags that every command takes, brought to the one that oclif knows. oclif alone would
 * read `--strict=false` as "strict on, and a PATH called false", and knows no `_` between words.
 */

import { InvalidArgumentError } from './errors.ts';

export interface FlagSpec {
  kind: 'switch' | 'value';
  /** The name that oclif knows, with `-` between words. */
  name: string;
  /** A switch that oclif lets be negated; of any other, "off" is the same as not given. */
  allowNo?: boolean;
}

export interface FlagTable {
  /** By long name and by long alias, `-` between words. */
  long: ReadonlyMap<string, FlagSpec>;
  /** By one letter. */
  short: ReadonlyMap<string, FlagSpec>;
}

/** What oclif keeps of a flag, as far as it matters here. */
export interface FlagDefinition {
  type: 'boolean' | 'option';
  char?: string;
  aliases?: string[];
  charAliases?: string[];
  allowNo?: boolean;
}

export function flagTable(definitions: Readonly<Record<string, FlagDefinition>>): FlagTable {
  const long = new Map<string, FlagSpec>();
  const short = new Map<string, FlagSpec>();
  for (const [name, definition] of Object.entries(definitions)) {
    const spec: FlagSpec =
      definition.type === 'boolean'
        ? { kind: 'switch', name, allowNo: definition.allowNo === true }
        : { kind: 'value', name };
    for (const alias of [name, ...(definition.aliases ?? [])]) long.set(canonical(alias), spec);
    for (const char of [definition.char, ...(definition.charAliases ?? [])]) {
      if (char !== undefined) short.set(char, spec);
    }
  }
  return { long, short };
}

/**
 * The same arguments in oclif's spelling.
 * - Long flags take `-` or `_` between words.
 * - A switch takes `--x`, `--x=true|1|yes`, `--x=false|0|no` and `--no-x`; the last one counts. A following
 *   word is never its value.
 * - `--json` is `--format=json` where the command has both.
 * - A value flag takes the following word, also one that begins with `-`, unless that is a flag itself.
 * - Everything after `--` stays untouched.
 * Throws InvalidArgumentError on a bad switch value, a missing value and an unknown long flag.
 */
export function rewriteArgv(argv: readonly string[], table: FlagTable): string[] {
  const words: string[] = [];
  const jsonIsFormat = table.long.has('json') && table.long.has('format');

  const setSwitch = (spec: FlagSpec, on: boolean): void => {
    const [yes, no] = [`--${spec.name}`, `--no-${spec.name}`];
    for (let i = words.length - 1; i >= 0; i--) {
      if (words[i] === yes || words[i] === no) words.splice(i, 1);
    }
    if (on) words.push(yes);
    else if (spec.allowNo === true) words.push(no);
  };
  const setFormat = (on: boolean): void => {
    const at = words.indexOf('--format=json');
    if (at >= 0) words.splice(at, 1);
    if (on) words.push('--format=json');
  };

  for (let i = 0; i < argv.length; i++) {
    const word = argv[i]!;
    if (word === '--') {
      words.push(...argv.slice(i));
      break;
    }
    if (!word.startsWith('--')) {
      words.push(word);
      // `-o FILE`: the file's name is not looked at.
      const spec = word.length === 2 ? table.short.get(word.slice(1)) : undefined;
      if (word.startsWith('-') && spec?.kind === 'value' && i + 1 < argv.length) words.push(argv[++i]!);
      continue;
    }

    const equals = word.indexOf('=');
    const given = equals < 0 ? word : word.slice(0, equals);
    const value = equals < 0 ? undefined : word.slice(equals + 1);
    const found = findLong(given.slice(2), table);
    if (found === undefined) throw unknownFlag(given, table);

    const { spec, negated } = found;
    if (spec.kind === 'switch') {
      const on = switchValue(given, value) !== negated;
      if (spec.name === 'json' && jsonIsFormat) setFormat(on);
      else setSwitch(spec, on);
    } else {
      const text = value ?? argv[++i];
      if (text === undefined || (value === undefined && isFlag(text, table))) {
        throw new InvalidArgumentError(given, '', `${given} expects a value`);
      }
      const joined = `--${spec.name}=${text}`;
      if (joined === '--format=json') setFormat(true);
      else words.push(joined);
    }
  }
  return words;
}

/** For the benches that answer to the flags of RocksDB's: there, one hyphen does before a long name. */
export function gflagsWords(argv: readonly string[]): string[] {
  return argv.map((word) => (/^-[A-Za-z]\w/.test(word) ? `-${word}` : word));
}

/** Whether a rewritten command line asks for one JSON document, and so for errors as JSON. */
export function asksForJson(words: readonly string[]): boolean {
  for (const word of words) {
    if (word === '--') return false;
    if (word === '--format=json' || word === '--json') return true;
  }
  return false;
}

/** The same for a command line as typed, which could not be rewritten. */
export function seemsToAskForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  return words.some(
    (word, i) =>
      /^--json(=(true|1|yes))?$/.test(word) ||
      word === '--format=json' ||
      (word === '--format' && words[i + 1] === 'json'),
  );
}

/** The candidate that is closest to a mistyped word, unless none is close. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word, candidate);
    if (distance < bestDistance && distance < candidate.length - 1) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein's distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}

function canonical(name: string): string {
  return name.replaceAll('_', '-');
}

function findLong(name: string, table: FlagTable): { spec: FlagSpec; negated: boolean } | undefined {
  const asked = canonical(name);
  const spec = table.long.get(asked);
  if (spec !== undefined) return { spec, negated: false };
  if (!asked.startsWith('no-')) return undefined;
  const positive = table.long.get(asked.slice(3));
  return positive?.kind === 'switch' ? { spec: positive, negated: true } : undefined;
}

function isFlag(word: string, table: FlagTable): boolean {
  if (word.startsWith('--'))
    return word === '--' || findLong(word.slice(2).split('=', 1)[0]!, table) !== undefined;
  return word.length === 2 && word.startsWith('-') && table.short.has(word.slice(1));
}

function switchValue(given: string, value: string | undefined): boolean {
  switch (value) {
    case undefined:
    case 'true':
    case '1':
    case 'yes':
      return true;
    case 'false':
    case '0':
    case 'no':
      return false;
    default:
      throw new InvalidArgumentError(
        given,
        value,
        `${given} is a switch: "${value}" is none of true, false, 1, 0, yes, no`,
      );
  }
}

function unknownFlag(given: string, table: FlagTable): InvalidArgumentError {
  const near = nearest(canonical(given.slice(2)), table.long.keys());
  const hint = near === undefined ? '' : `; did you mean --${near}?`;
  return new InvalidArgumentError(given, '', `unknown flag ${given}${hint}`);
}
