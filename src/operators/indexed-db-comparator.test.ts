import { describe, expect, it } from 'vitest';
import { utf8Bytes } from '../bytes/text.ts';
import { varintLength, writeVarint } from '../bytes/varint.ts';
import { compareIndexedDbKeys } from './indexed-db-comparator.ts';

type Bytes = readonly number[];

const compare = (a: Bytes, b: Bytes): number =>
  // Inside a larger buffer: what lies around a key must not count.
  compareIndexedDbKeys(Uint8Array.of(9, ...a, 7), 1, a.length + 1, Uint8Array.of(...b, 1), 0, b.length);

function varint(value: number): number[] {
  const bytes = new Uint8Array(varintLength(value));
  writeVarint(bytes, 0, value);
  return [...bytes];
}

function integer(value: number): number[] {
  const bytes: number[] = [];
  do {
    bytes.push(value % 256);
    value = Math.floor(value / 256);
  } while (value > 0);
  return bytes;
}

function prefix(database: number, store: number, index: number): number[] {
  const parts = [integer(database), integer(store), integer(index)];
  const lengths = ((parts[0]!.length - 1) << 5) | ((parts[1]!.length - 1) << 2) | (parts[2]!.length - 1);
  return [lengths, ...parts.flat()];
}

const utf16 = (text: string): number[] =>
  [...text].flatMap((c) => [c.charCodeAt(0) >> 8, c.charCodeAt(0) & 255]);
const counted = (text: string): number[] => [...varint(text.length), ...utf16(text)];
const string = (text: string): number[] => [1, ...counted(text)];
const double = (value: number): number[] => [...new Uint8Array(new Float64Array([value]).buffer)];
const date = (value: number): number[] => [2, ...double(value)];
const number = (value: number): number[] => [3, ...double(value)];
const binary = (text: string): number[] => [6, ...varint(text.length), ...utf8Bytes(text)];
const array = (...keys: Bytes[]): number[] => [4, ...varint(keys.length), ...keys.flat()];
const MIN = [5];
const NULL = [0];

/** Each key is smaller than all behind it. */
function expectAscending(keys: readonly Bytes[]): void {
  for (let i = 0; i < keys.length; i++) {
    for (let j = 0; j < keys.length; j++) {
      expect(Math.sign(compare(keys[i]!, keys[j]!)), `${keys[i]} against ${keys[j]}`).toBe(
        Math.sign(i - j) + 0,
      );
    }
  }
}

const IDB_KEYS: readonly Bytes[] = [
  MIN,
  number(Number.NEGATIVE_INFINITY),
  number(-1e300),
  number(-2),
  number(-1.5),
  number(-5e-324),
  number(0),
  number(5e-324),
  number(1),
  number(2),
  number(256),
  number(Number.POSITIVE_INFINITY),
  date(-1),
  date(1.7e12),
  string(''),
  string('a'),
  string('aa'),
  string('b'),
  string('ÿ'),
  string('Ā'),
  string('z'.repeat(200)).with(3, 0xff),
  binary(''),
  binary('a'),
  binary('ab'),
  binary('b'),
  array(),
  array(number(1)),
  array(number(1), string('x')),
  array(number(2)),
  array(string('')),
  array(array()),
  array(array(), number(1)),
  array(array(number(1))),
  NULL,
];

describe('IDB keys', () => {
  it.each([1, 2, 3])('are ordered by type, then value, in index %i', (index) => {
    expectAscending(IDB_KEYS.map((key) => [...prefix(1, 1, index), ...key]));
  });

  it('takes -0 for 0', () => {
    expect(compare([...prefix(1, 1, 1), ...number(-0)], [...prefix(1, 1, 1), ...number(0)]) !== 0).toBe(
      false,
    );
    expect(compare([...prefix(1, 1, 1), ...number(-0)], [...prefix(1, 1, 1), ...number(-1)])).toBeGreaterThan(
      0,
    );
  });

  it('orders doubles as numbers', () => {
    const values = [-1e9, -3.25, -3, -1e-9, 0, 1e-9, 1, 1.0000000000000002, 255, 65536, 1e15, 1e16];
    expectAscending(values.map((value) => [...prefix(1, 1, 1), ...number(value)]));
    expectAscending(values.map((value) => [...prefix(1, 1, 1), ...date(value)]));
  });
});

describe('prefixes', () => {
  it('are compared as numbers of any length', () => {
    expectAscending(
      [
        [1, 1, 1],
        [1, 1, 2],
        [1, 1, 3],
        [1, 1, 30],
        [1, 1, 255],
        [1, 1, 256],
        [1, 2, 1],
        [1, 255, 1],
        [1, 256, 1],
        [2, 1, 1],
        [255, 1, 1],
        [256, 1, 1],
        [2 ** 40, 1, 1],
      ].map(([database, store, index]) => [...prefix(database!, store!, index!), ...number(1)]),
    );
  });

  it('put metadata before data', () => {
    expectAscending([
      [...prefix(0, 0, 0), 201, ...counted('z'), ...counted('z')],
      [...prefix(1, 0, 0), 255],
      [...prefix(1, 1, 1), ...MIN],
    ]);
  });
});

describe('metadata', () => {
  it('of the whole store', () => {
    expectAscending(
      [
        [0],
        [1],
        [2],
        [3],
        [50, 1, 2],
        [50, 2],
        [100, ...varint(3)],
        [100, ...varint(300)],
        [201, ...counted('a'), ...counted('z')],
        [201, ...counted('aa'), ...counted('a')],
        [201, ...counted('b'), ...counted('')],
        [201, ...counted('b'), ...counted('Ā')],
      ].map((rest) => [...prefix(0, 0, 0), ...rest]),
    );
  });

  it('of a database', () => {
    expectAscending(
      [
        [0],
        [5],
        [50, ...varint(1), 0],
        [50, ...varint(1), 255],
        [50, ...varint(200), 0],
        [50, ...varint(256), 0],
        [100, ...varint(1), ...varint(30), 1],
        [100, ...varint(1), ...varint(300), 0],
        [100, ...varint(2), ...varint(30), 0],
        [150, ...varint(9)],
        [151, ...varint(9), ...varint(200)],
        [151, ...varint(9), ...varint(256)],
        [200, ...counted('name')],
        [200, ...counted('zebra')],
        [201, ...varint(1), ...counted('z')],
        [201, ...varint(2), ...counted('a')],
      ].map((rest) => [...prefix(7, 0, 0), ...rest]),
    );
  });
});

describe('index data', () => {
  const entry = (key: Bytes, sequence: number, record: Bytes): number[] => [
    ...prefix(1, 1, 30),
    ...key,
    ...varint(sequence),
    ...record,
  ];

  it('is ordered by index key, record key, sequence number', () => {
    expectAscending([
      entry(number(1), 9, number(1)),
      entry(number(1), 0, string('a')),
      entry(number(1), 300, string('a')),
      entry(number(1), 0, string('b')),
      entry(string('a'), 0, number(0)),
      entry(string('b'), 0, MIN),
      entry(array(string('b')), 0, number(0)),
    ]);
  });

  it('may lack sequence number and record key', () => {
    const key = [...prefix(1, 1, 30), ...number(1)];
    expectAscending([key, [...key, 4], [...key, 3, ...number(0)]]);
    expect(compare([...key, 4], [...key, 5])).toBe(0);
  });
});

describe('keys that cannot be decoded', () => {
  it.each<[string, Bytes, Bytes]>([
    ['no prefix', [], [0]],
    ['a prefix that is cut off', [0, 0], [0, 0, 1]],
    ['nothing behind the prefix', prefix(1, 1, 1), [...prefix(1, 1, 1), 0]],
    ['an index that does not exist', [...prefix(1, 1, 9), 1], [...prefix(1, 1, 9), 2]],
    ['an unknown type', [...prefix(1, 1, 1), 7, 1], [...prefix(1, 1, 1), 7, 2]],
    ['a string that is cut off', [...prefix(1, 1, 1), 1, 9, 1], [...prefix(1, 1, 1), 1, 9, 2]],
    ['a length that does not end', [...prefix(1, 1, 1), 1, 255, 1], [...prefix(1, 1, 1), 1, 255, 255]],
    ['a double that is cut off', [...prefix(1, 1, 1), 3, 1, 2], [...prefix(1, 1, 1), 3, 1, 3]],
    ['an array that is cut off', [...prefix(1, 1, 1), 4, 2, 5], [...prefix(1, 1, 1), 4, 2, 5, 5]],
    ['bytes behind the key', [...prefix(1, 1, 1), 5, 1], [...prefix(1, 1, 1), 5, 1, 1]],
  ])('are compared bytewise from there: %s', (_, smaller, larger) => {
    expectAscending([smaller, larger]);
  });

  it('end with their bytes, whatever count they claim', () => {
    const claim = [...prefix(1, 1, 1), 4, ...varint(2 ** 50), 5, 5, 5];
    expect(compare(claim, claim)).toBe(0);
    expect(compare(claim, [...claim, 5])).toBeLessThan(0);
  });

  it('may nest without end', () => {
    const deep = new Uint8Array(1_000_000);
    deep.set(prefix(1, 1, 1));
    for (let i = 4; i + 1 < deep.length; i += 2) deep.set([4, 1], i);
    const other = deep.slice();
    other[other.length - 1] = 9;
    const order = (a: Uint8Array, b: Uint8Array): number =>
      compareIndexedDbKeys(a, 0, a.length, b, 0, b.length);
    expect(order(deep, deep)).toBe(0);
    expect(order(deep, other)).toBeLessThan(0);
    expect(order(other, deep)).toBeGreaterThan(0);
  });

  it('give an order in both directions, for any bytes', () => {
    let state = 7;
    const random = (limit: number): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * limit);
    };
    const rounds = 20_000 * Number(process.env.SSTKIT_TEST_SCALE ?? 1);
    const make = (): number[] => {
      const index = [1, 3, 30, 0, 9][random(5)]!;
      const key = [...prefix(random(2), random(2), index), ...IDB_KEYS[random(IDB_KEYS.length)]!];
      for (let i = random(3); i > 0; i--) key[random(key.length)] = random(256);
      return key.slice(0, key.length - random(4));
    };
    for (let round = 0; round < rounds; round++) {
      const a = make();
      const b = random(4) === 0 ? a : make();
      const order = compare(a, b);
      expect(Number.isNaN(order)).toBe(false);
      if (Math.sign(order) + Math.sign(compare(b, a)) !== 0) expect.fail(`${a} against ${b}`);
      if (a === b && order !== 0) expect.fail(`${a} against itself`);
    }
  });
});
