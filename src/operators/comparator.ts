import { compareBytes } from '../bytes/compare.ts';
import { readFixed32 } from '../bytes/fixed.ts';
import { InvalidArgumentError } from '../errors.ts';
import { compareIndexedDbKeys } from './indexed-db-comparator.ts';

/**
 * An order of user keys. A table names its comparator in its properties; dump, scan and verify read a table of
 * any comparator in stored order and use one only to check that order and to seek.
 */
export interface Comparator {
  /** As in property `rocksdb.comparator`. */
  readonly name: string;
  /** Bytes of user-defined timestamp at the end of each user key. */
  readonly timestampSize: number;
  /** The same order over user keys that have no timestamp: itself, where there is none. */
  readonly withoutTimestamp: Comparator;
  /** Negative, zero or positive for `a[aStart, aEnd)` against `b[bStart, bEnd)`, timestamps included. */
  compare(a: Uint8Array, aStart: number, aEnd: number, b: Uint8Array, bStart: number, bEnd: number): number;
}

const U64_TIMESTAMP_SIZE = 8;

const compareReversed: Comparator['compare'] = (a, aStart, aEnd, b, bStart, bEnd) =>
  compareBytes(b, bStart, bEnd, a, aStart, aEnd);

export const bytewiseComparator = plainComparator('leveldb.BytewiseComparator', compareBytes);

export const reverseBytewiseComparator = plainComparator(
  'rocksdb.ReverseBytewiseComparator',
  compareReversed,
);

function plainComparator(name: string, compare: Comparator['compare']): Comparator {
  const comparator: { -readonly [Field in keyof Comparator]?: Comparator[Field] } = {
    name,
    timestampSize: 0,
    compare,
  };
  comparator.withoutTimestamp = comparator as Comparator;
  return comparator as Comparator;
}

/** Keys by `base`, then fixed64 timestamps descending: the newest comes first. Source: RocksDB util/comparator.cc. */
function withU64Timestamp(base: Comparator): Comparator {
  return {
    name: `${base.name}.u64ts`,
    timestampSize: U64_TIMESTAMP_SIZE,
    withoutTimestamp: base,
    compare(a, aStart, aEnd, b, bStart, bEnd) {
      const aKeyEnd = aEnd - U64_TIMESTAMP_SIZE;
      const bKeyEnd = bEnd - U64_TIMESTAMP_SIZE;
      const order = base.compare(a, aStart, aKeyEnd, b, bStart, bKeyEnd);
      if (order !== 0) return order;
      const high = readFixed32(b, bKeyEnd + 4) - readFixed32(a, aKeyEnd + 4);
      return high !== 0 ? high : readFixed32(b, bKeyEnd) - readFixed32(a, aKeyEnd);
    },
  };
}

const COMPARATORS: readonly Comparator[] = [
  bytewiseComparator,
  reverseBytewiseComparator,
  withU64Timestamp(bytewiseComparator),
  withU64Timestamp(reverseBytewiseComparator),
  plainComparator('idb_cmp1', compareIndexedDbKeys),
];

export const COMPARATOR_NAMES: readonly string[] = COMPARATORS.map((comparator) => comparator.name);

/** Short names that the command line takes beside the full ones. */
const ALIASES: Readonly<Record<string, string>> = {
  bytewise: 'leveldb.BytewiseComparator',
  reverse: 'rocksdb.ReverseBytewiseComparator',
};

/** The comparator of a name; undefined when it is the application's own. */
export function comparatorByName(name: string): Comparator | undefined {
  const full = ALIASES[name] ?? name;
  return COMPARATORS.find((comparator) => comparator.name === full);
}

/** The comparator that the user named. Throws InvalidArgumentError for a name that is not known here. */
export function comparatorOf(name: string): Comparator {
  const comparator = comparatorByName(name);
  if (comparator !== undefined) return comparator;
  throw new InvalidArgumentError(
    'comparator',
    name,
    `comparator ${name} is not known here: there are ${COMPARATOR_NAMES.join(', ')}`,
  );
}
