import { compareArrays } from '../bytes/compare.ts';
import { readFixed64, writeFixed64 } from '../bytes/fixed.ts';

/**
 * How merge operands and the value below them become one value. A table names its operator in its properties;
 * operands whose operator is not known stay as they are.
 */
export interface MergeOperator {
  /** As in property `rocksdb.merge.operator`. */
  readonly name: string;
  /** The value that a reader sees; operands come oldest first, at least one. */
  fullMerge(base: Uint8Array | undefined, operands: readonly Uint8Array[]): Uint8Array;
  /** Operands, oldest first and at least two, as one that stands for them; undefined where there is none. */
  partialMerge(operands: readonly Uint8Array[]): Uint8Array | undefined;
}

/**
 * Operands joined with a delimiter; the TEST one leaves operands apart until there is a value below them.
 * Source: RocksDB utilities/merge_operators/string_append/stringappend.cc, stringappend2.cc.
 */
export function stringAppendOperator(
  delimiter: Uint8Array,
  name: 'StringAppendOperator' | 'StringAppendTESTOperator' = 'StringAppendOperator',
): MergeOperator {
  return {
    name,
    fullMerge: (base, operands) => join(base === undefined ? operands : [base, ...operands], delimiter),
    partialMerge: (operands) => (name === 'StringAppendOperator' ? join(operands, delimiter) : undefined),
  };
}

function join(parts: readonly Uint8Array[], delimiter: Uint8Array): Uint8Array {
  let length = delimiter.length * (parts.length - 1);
  for (const part of parts) length += part.length;
  const joined = new Uint8Array(length);
  let pos = 0;
  parts.forEach((part, i) => {
    if (i > 0) {
      joined.set(delimiter, pos);
      pos += delimiter.length;
    }
    joined.set(part, pos);
    pos += part.length;
  });
  return joined;
}

/** fixed64 numbers added modulo 2^64; what is not eight bytes long counts as 0. Source: RocksDB uint64add.cc. */
export const uint64AddOperator: MergeOperator = {
  name: 'UInt64AddOperator',
  fullMerge: (base, operands) => sum(base === undefined ? operands : [base, ...operands]),
  partialMerge: sum,
};

function sum(values: readonly Uint8Array[]): Uint8Array {
  let total = 0n;
  for (const value of values) if (value.length === 8) total += readFixed64(value, 0);
  const bytes = new Uint8Array(8);
  writeFixed64(bytes, 0, BigInt.asUintN(64, total));
  return bytes;
}

/** The bytewise largest. Source: RocksDB utilities/merge_operators/max.cc. */
export const maxOperator: MergeOperator = {
  name: 'MaxOperator',
  fullMerge: (base, operands) => largest(base === undefined ? operands : [base, ...operands]),
  partialMerge: largest,
};

function largest(values: readonly Uint8Array[]): Uint8Array {
  return values.reduce((best, value) => (compareArrays(best, value) < 0 ? value : best));
}

/** The last one. Source: RocksDB utilities/merge_operators/put.cc. */
export const putOperator: MergeOperator = {
  name: 'PutOperator',
  fullMerge: (_base, operands) => operands[operands.length - 1]!,
  partialMerge: (operands) => operands[operands.length - 1]!,
};

/** What a name says. */
export type NamedMergeOperator =
  | { readonly status: 'none' }
  | { readonly status: 'known'; readonly operator: MergeOperator }
  /** A string append whose delimiter stands nowhere in the file. */
  | { readonly status: 'incomplete'; readonly name: string }
  /** The application's own. */
  | { readonly status: 'unknown'; readonly name: string };

const STRING_APPEND: Readonly<Record<string, 'StringAppendOperator' | 'StringAppendTESTOperator'>> = {
  StringAppendOperator: 'StringAppendOperator',
  stringappend: 'StringAppendOperator',
  StringAppendTESTOperator: 'StringAppendTESTOperator',
  stringappendtest: 'StringAppendTESTOperator',
};

const OPERATORS: Readonly<Record<string, MergeOperator>> = {
  UInt64AddOperator: uint64AddOperator,
  uint64add: uint64AddOperator,
  MaxOperator: maxOperator,
  max: maxOperator,
  PutOperator: putOperator,
  put: putOperator,
  put_v1: putOperator,
};

/** Names that `mergeOperatorByName` knows, for messages. */
export const MERGE_OPERATOR_NAMES =
  'StringAppendOperator:DELIM, UInt64AddOperator, MaxOperator, PutOperator and none';

/** The operator of a name as properties have it, or RocksDB's short one; a string append needs its delimiter. */
export function mergeOperatorByName(name: string | undefined, delimiter?: Uint8Array): NamedMergeOperator {
  if (name === undefined || name === '' || name === 'nullptr' || name === 'none') return { status: 'none' };
  const append = Object.hasOwn(STRING_APPEND, name) ? STRING_APPEND[name]! : undefined;
  if (append !== undefined) {
    if (delimiter === undefined) return { status: 'incomplete', name: append };
    return { status: 'known', operator: stringAppendOperator(delimiter, append) };
  }
  const operator = Object.hasOwn(OPERATORS, name) ? OPERATORS[name]! : undefined;
  return operator === undefined ? { status: 'unknown', name } : { status: 'known', operator };
}
