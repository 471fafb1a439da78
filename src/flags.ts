/** Flags that several commands share; each says its unit and its default. */

import { boolean, custom, integer, option, string } from '@oclif/core/flags';
import type { BooleanFlag, OptionFlag } from '@oclif/core/interfaces';
import { InvalidArgumentError } from './errors.ts';

export type OutputFormat = 'text' | 'json' | 'ndjson' | 'csv';

/** `--format` with the formats that a command has; the first one is its default. */
export function formatFlag<const T extends OutputFormat>(formats: readonly [T, ...T[]]): OptionFlag<T> {
  // oclif's overloads do not see through a generic list of options.
  return string({
    options: formats,
    default: formats[0],
    description: 'form of the output',
    helpValue: `<${formats.join('|')}>`,
  }) as unknown as OptionFlag<T>;
}

/** A switch, off by default. */
export function switchFlag(description: string, options: { char?: 'r' } = {}): BooleanFlag<boolean> {
  return boolean({ description, default: false, ...options });
}

/** A number with or without a fraction. */
export const numberFlag = custom<number>({
  parse: async (text, _context, flag) => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isFinite(value)) return value;
    throw new Error(`Expected a number for --${(flag as { name?: string }).name} but received: ${text}`);
  },
});

export const jsonFlag = switchFlag('same as --format json');

export const bytesFlag = option({
  options: ['escape', 'hex', 'base64', 'utf8'] as const,
  description: 'how keys and values are printed [default: escape in text, hex in json]',
  helpValue: '<escape|hex|base64|utf8>',
})();

export const comparatorFlag = string({
  description: "order of the user keys, by its RocksDB name [default: the name in the file's properties]",
  helpValue: 'NAME',
});

export const tsSizeFlag = integer({
  description: 'bytes of the user-defined timestamp behind each user key [default: as the comparator says]',
  helpValue: 'BYTES',
  min: 0,
  max: 64,
});

export const mergeOperatorFlag = string({
  description: "how merge operands combine, by its RocksDB name [default: the name in the file's properties]",
  helpValue: 'NAME[:DELIM]',
});

export const noFilterFlag = switchFlag('read without bloom and ribbon filters [default: off]');

export const atSeqnoFlag = string({
  description: 'what a reader at this sequence number sees [default: the newest]',
  helpValue: 'N',
});

export const outFlag = string({
  char: 'o',
  description: 'write to this file instead of standard output [default: -, standard output]',
  helpValue: 'FILE',
});

export const threadsFlag = integer({
  description: "threads at most; blocks are decompressed by Node's pool, whose size UV_THREADPOOL_SIZE sets",
  helpValue: 'COUNT',
  min: 1,
  max: 256,
});

export const strictFlag = switchFlag('stop at the first damage [default: off, go on behind it]');
export const verboseFlag = switchFlag('name each skipped file and each step on stderr [default: off]');
export const quietFlag = switchFlag('no notes on stderr; damage is still named [default: off]');

export const progressFlag = option({
  options: ['none', 'bar', 'json'] as const,
  description: 'progress on stderr [default: bar when stderr is a terminal and the work takes over 1 second]',
  helpValue: '<none|bar|json>',
})();

export const recursiveFlag = switchFlag('enter sub-directories [default: off]', { char: 'r' });

/** What every command has. */
export const commonFlags = {
  json: jsonFlag,
  verbose: verboseFlag,
  quiet: quietFlag,
};

/**
 * What every command has that reads tables. Files that are read from end to end ask no filter and merge nothing: the
 * hidden ones are taken, so that one set of flags fits every command, and change nothing there.
 */
export const readingFlags = {
  ...commonFlags,
  bytes: bytesFlag,
  comparator: comparatorFlag,
  'ts-size': tsSizeFlag,
  'merge-operator': { ...mergeOperatorFlag, hidden: true },
  'no-filter': { ...noFilterFlag, hidden: true },
  out: outFlag,
  threads: { ...threadsFlag, hidden: true },
  strict: strictFlag,
  progress: progressFlag,
  recursive: recursiveFlag,
};

/** A number of bytes, with `k`, `m`, `g`, `KiB`, `MiB`, `GiB` behind it where that is shorter (powers of 1024). */
export const byteCountFlag = custom<number>({
  helpValue: 'BYTES',
  parse: async (text, _context, flag) => parseByteCount(text, (flag as { name?: string }).name ?? 'size'),
});

export function parseByteCount(text: string, argument: string): number {
  const match = /^(\d+)(?:([kmgt])(?:i?b)?)?$/i.exec(text);
  const unit = match?.[2]?.toLowerCase();
  const value = match === null ? Number.NaN : Number(match[1]) * (unit === undefined ? 1 : UNIT_BYTES[unit]!);
  if (!Number.isSafeInteger(value)) {
    throw new InvalidArgumentError(argument, text, `"${text}" is no number of bytes (4096, 64k, 2MiB)`);
  }
  return value;
}

const UNIT_BYTES: Readonly<Record<string, number>> = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** oclif itself puts a default before the description, unless it is 0. */
export function withDefault(description: string, value: number): string {
  return value === 0 ? `${description} [default: 0]` : description;
}
