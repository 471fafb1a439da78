/** Seeded operations on a set of tables, each compared with the model. */

import { expect } from 'vitest';
import { toHex } from '../../src/bytes/text.ts';
import { readPoint } from '../../src/engine/table/read-point.ts';
import type { RowIterator } from '../../src/engine/table/row-iterator.ts';
import type { TableSet } from '../../src/engine/table/table-set.ts';
import type { PrefixExtractor } from '../../src/operators/prefix-extractor.ts';
import type { SeededRandom } from '../support/random.ts';
import { bytesOf, type Model, ModelIterator, type ModelRow, modelRow } from './model.ts';

export interface Subject {
  readonly sets: readonly TableSet[];
  readonly model: Model;
  /** Those to read with; undefined among them: none. */
  readonly extractors: readonly (PrefixExtractor | undefined)[];
}

/** Runs `count` operations. What fails says which one it was. */
export function runOperations(
  { sets, model, extractors }: Subject,
  random: SeededRandom,
  count: number,
): void {
  const keys = model.keys.length > 0 ? model.keys : [''];
  const newest = 2n ** 56n - 1n;
  const points = [newest, newest, newest, ...model.seqnos.filter(() => random.chance(0.1)).slice(0, 3)];
  for (let n = 0; n < count; n++) {
    const set = random.pick(sets);
    const at = random.pick(points);
    const prefixExtractor = random.pick(extractors);
    const point = readPoint(at);
    const what = random.below(4);
    if (what === 0) {
      const key = drawKey(random, keys);
      const found = set.get(bytesOf(key), { point, prefixExtractor });
      const row = found === undefined ? undefined : modelRow(bytesOf(key), found);
      compare(row, model.get(key, at), () => `${n}: get ${key} at ${at}`);
    } else if (what === 1) {
      const batch = Array.from({ length: 1 + random.below(12) }, () => drawKey(random, keys));
      const found = set.multiGet(batch.map(bytesOf), { point, prefixExtractor });
      const rows = found.map((each, i) =>
        each === undefined ? undefined : modelRow(bytesOf(batch[i]!), each),
      );
      const expected = batch.map((key) => model.get(key, at));
      compare(rows, expected, () => `${n}: multiGet ${batch.join(' ')} at ${at}`);
    } else {
      walk(set, model, random, keys, at, prefixExtractor, n);
    }
  }
}

/** By text first: a deep comparison of a million rows would take most of the time. */
function compare(actual: unknown, expected: unknown, what: () => string): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) expect(actual, what()).toEqual(expected);
}

function walk(
  set: TableSet,
  model: Model,
  random: SeededRandom,
  keys: readonly string[],
  at: bigint,
  prefixExtractor: PrefixExtractor | undefined,
  n: number,
): void {
  const mode = random.below(4);
  let lower = random.chance(0.3) ? drawKey(random, keys) : undefined;
  let upper = random.chance(0.4) ? drawKey(random, keys) : undefined;
  if (lower !== undefined && upper !== undefined && model.compare(lower, upper) > 0)
    [lower, upper] = [upper, lower];
  const start = drawKey(random, keys);
  if (mode === 3 && random.chance(0.5)) upper = boundNear(start, random);
  const prefixSameAsStart = mode === 2;
  const options = {
    point: readPoint(at),
    prefixExtractor,
    lowerBound: lower === undefined ? undefined : bytesOf(lower),
    upperBound: upper === undefined ? undefined : bytesOf(upper),
    ...(mode === 1 ? { totalOrderSeek: true } : {}),
    ...(mode === 2 ? { prefixSameAsStart } : {}),
    ...(mode === 3 ? { autoPrefixMode: true } : {}),
  };
  const iterator = set.newIterator(options);
  const expected = new ModelIterator(model, model.rows(at), {
    lower,
    upper,
    prefixOf: prefixSameAsStart ? prefixExtractor : undefined,
  });
  const steps: string[] = [`mode ${mode}, ${prefixExtractor?.name}, [${lower}, ${upper}), at ${at}`];
  const check = (step: string): void => {
    steps.push(step);
    compare(rowOf(iterator), expected.current, () => `${n}: ${steps.join('; ')}`);
  };
  const how = random.below(10);
  if (how === 0) {
    iterator.seekToFirst();
    expected.seekToFirst();
    check('first');
  } else if (how === 1) {
    iterator.seekToLast();
    expected.seekToLast();
    check('last');
  } else if (how < 6) {
    iterator.seek(bytesOf(start));
    expected.seek(start);
    check(`seek ${start}`);
  } else {
    iterator.seekForPrev(bytesOf(start));
    expected.seekForPrev(start);
    check(`seekForPrev ${start}`);
  }
  for (let moves = random.below(8); moves > 0 && iterator.valid; moves--) {
    if (random.chance(0.6)) {
      iterator.next();
      expected.next();
      check('next');
    } else {
      iterator.previous();
      expected.previous();
      check('previous');
    }
  }
}

function rowOf(iterator: RowIterator): ModelRow | undefined {
  if (!iterator.valid) return undefined;
  const { type, data, valueStart, valueEnd } = iterator;
  return modelRow(iterator.key.subarray(0, iterator.keyLength), {
    type,
    value: data.subarray(valueStart, valueEnd),
  });
}

/** A key that is there, one beside it, or any. */
function drawKey(random: SeededRandom, keys: readonly string[]): string {
  const key = bytesOf(random.pick(keys));
  switch (random.below(8)) {
    case 0:
      return toHex(key.subarray(0, random.below(key.length + 1)));
    case 1:
      return toHex(Uint8Array.of(...key.subarray(0, 300), random.below(256)));
    case 2: {
      const other = key.slice();
      if (other.length > 0) other[random.below(other.length)]! += 1 + random.below(3);
      return toHex(other);
    }
    case 3:
      return toHex(random.bytes(random.below(6)));
    default:
      return toHex(key);
  }
}

/** A bound that is likely to leave nothing but the prefix of the key. */
function boundNear(key: string, random: SeededRandom): string {
  const bytes = bytesOf(key).slice(0, 1 + random.below(10));
  if (bytes.length === 0) return 'ff';
  bytes[bytes.length - 1]!++;
  return toHex(bytes);
}
