/**
 * Tables of many sets of options in the hands of real engines: sst_dump 7.8.3 reads the same entries out of those of
 * format_version <= 5, and RocksDB 9.7.4 and 11.8.1 (npm, test/oracles) give the same rows as a reader would see.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ByteWriter } from '../../src/bytes/byte-writer.ts';
import { compareArrays } from '../../src/bytes/compare.ts';
import { toHex, utf8Bytes } from '../../src/bytes/text.ts';
import { encodeBlobIndex, encodeWideColumns } from '../../src/format/entry-value.ts';
import { parseFilterPolicy } from '../../src/format/filter/filter-policy.ts';
import type { TableOptions } from '../../src/format/table-builder/table-options.ts';
import { entryTypeName, ValueType } from '../../src/format/value-type.ts';
import type { NodeEnvironment } from '../../src/node/environment.ts';
import { mergeOperatorByName } from '../../src/operators/merge-operator.ts';
import { fixedPrefix } from '../../src/operators/prefix-extractor.ts';
import { verifyPaths } from '../../src/tools/verify.ts';
import {
  type Engine,
  openAsDatabase,
  rocksdb9,
  rocksdb11,
  type TableFacts,
} from '../support/engine-database.ts';
import type { UserRow } from '../support/fixtures.ts';
import { runTool, toolVersion } from '../support/oracles.ts';
import { makeRamFolder } from '../support/ram-folder.ts';
import { SeededRandom, TEST_SCALE } from '../support/random.ts';
import type { JsonRow } from '../support/scan.ts';
import { userView } from '../support/user-view.ts';
import { openNodeEnvironment, type TableContents, writeTable } from './table-builder-rebuild.ts';

const ENTRIES = 3000;
/** 100,000 in CI. */
const PRESENT_KEYS = Math.min(100_000, 25_000 * TEST_SCALE);
const HAS_SST_DUMP = toolVersion('sst_dump') === '7.8.3';
const ENGINES = [rocksdb9(), rocksdb11()].filter((engine) => engine !== undefined);
const APPEND = mergeOperatorByName('StringAppendOperator', Uint8Array.of(0x2c));

let folder: string;
let environment: NodeEnvironment;
beforeAll(async () => {
  folder = makeRamFolder('sstkit-engines-');
  environment = await openNodeEnvironment();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const VARIANTS: Readonly<Record<string, TableOptions>> = {
  'no compression, no checksum': { checksum: 'none' },
  'snappy, small blocks': { compression: 'snappy', checksum: 'crc32c', blockSize: 300 },
  'zlib with dictionary, full filter': {
    compression: 'zlib',
    compressionOptions: { level: 9, maxDictBytes: 3000 },
    checksum: 'xxh32',
    filterPolicy: parseFilterPolicy('bloom:10')!,
  },
  'lz4 with dictionary, two levels': {
    compression: 'lz4',
    compressionOptions: { maxDictBytes: 4000, maxDictBufferBytes: 40_000 },
    checksum: 'xxh64',
    indexType: 'two_level',
    metadataBlockSize: 300,
    blockSize: 700,
  },
  'zstd, partitioned filter': {
    compression: 'zstd',
    checksum: 'xxh3',
    indexType: 'two_level',
    partitionFilters: true,
    metadataBlockSize: 500,
    blockSize: 1000,
    filterPolicy: parseFilterPolicy('bloom:12')!,
  },
  'zstd with raw dictionary, Ribbon filter': {
    compression: 'zstd',
    compressionOptions: { level: 6, maxDictBytes: 5000 },
    filterPolicy: parseFilterPolicy('ribbon:10')!,
    indexShortening: 'none',
  },
  'zstd with selected dictionary, frame checksums': {
    compression: 'zstd',
    compressionOptions: { maxDictBytes: 4000, zstdMaxTrainBytes: 60_000, checksum: true },
    enableIndexCompression: false,
    blockRestartInterval: 4,
  },
  'first keys in the index': { indexType: 'first_key', blockSize: 900, compression: 'snappy' },
  'hash index, prefixes alone in the filter': {
    indexType: 'hash',
    prefixExtractor: fixedPrefix(4),
    wholeKeyFiltering: false,
    filterPolicy: parseFilterPolicy('bloom:10')!,
  },
  'in-block hash index, aligned blocks': {
    dataBlockIndexType: 'binary_and_hash',
    blockAlign: true,
    blockSize: 2048,
    checksum: 'crc32c',
  },
  'whole keys, long restarts, successor': {
    useDeltaEncoding: false,
    blockRestartInterval: 64,
    indexBlockRestartInterval: 8,
    indexShortening: 'separators_and_successor',
    compression: 'lz4',
  },
};

const CASES = [2, 3, 4, 5, 6, 7].flatMap((formatVersion) =>
  Object.entries(VARIANTS).map(([name, options]) => ({
    name: `format_version ${formatVersion}, ${name}`,
    formatVersion,
    options: {
      ...options,
      formatVersion,
      mergeOperatorName: 'StringAppendOperator',
      ...(formatVersion <= 5 ? { writerProfile: '7.8' as const } : {}),
    },
  })),
);

function internalKey(userKey: Uint8Array, seqno: number, type: number): Uint8Array {
  const key = new Uint8Array(userKey.length + 8);
  key.set(userKey);
  new DataView(key.buffer).setBigUint64(userKey.length, (BigInt(seqno) << 8n) | BigInt(type), true);
  return key;
}

interface Mixed extends TableContents {
  /** What a reader sees, and of each key without a value that nothing is there. */
  view: Map<string, string | undefined>;
  /** Keys that cannot be read without a merge operator. */
  merged: Set<string>;
}

/**
 * Entries of all types that the version's readers know. References to blob files lie below newer versions: there is
 * no such file to read. 7.8.3 does not know preferred sequence numbers.
 */
function mixedEntries(seed: number, formatVersion: number): Mixed {
  const random = new SeededRandom(seed);
  const entries: TableContents['entries'] = [];
  const rows: JsonRow[] = [];
  const newest: number[] = [
    ValueType.value,
    ValueType.value,
    ValueType.value,
    ValueType.deletion,
    ValueType.singleDeletion,
    ValueType.deletionWithTimestamp,
    ValueType.merge,
    ValueType.wideColumnEntity,
    ...(formatVersion >= 6 ? [ValueType.valuePreferredSeqno] : []),
  ];
  const add = (key: Uint8Array, seqno: number, type: number): void => {
    const { bytes, shown } = makeValue(random, type);
    entries.push({ key: internalKey(key, seqno, type), value: bytes });
    rows.push({ file: '', key: toHex(key), seqno: String(seqno), type: entryTypeName(type), ...shown });
  };
  for (let i = 0; entries.length < ENTRIES; i++) {
    const tail = random.chance(0.03) ? '-'.repeat(200) : '';
    const key = utf8Bytes(`k${i % 7}${String(i).padStart(5, '0')}${tail}`);
    let seqno = 1000 + random.below(100_000);
    let type = random.pick(newest);
    add(key, seqno, type);
    for (let older = random.chance(0.4) ? 1 + random.below(4) : 0; older > 0; older--) {
      seqno -= 1 + random.below(100);
      const mayMerge = type === ValueType.merge;
      type = random.pick([
        ValueType.value,
        ValueType.deletion,
        mayMerge ? ValueType.merge : ValueType.blobIndex,
      ]);
      add(key, seqno, type);
    }
  }
  const order = entries.map((_, i) => i);
  const userKey = (i: number): Uint8Array => entries[i]!.key.subarray(0, -8);
  order.sort((a, b) => compareArrays(userKey(a), userKey(b)) || a - b);
  const tombstones = Array.from({ length: 20 }, (_, i) => {
    const start = utf8Bytes(`k${i % 7}${String(i * 70).padStart(5, '0')}`);
    const end = utf8Bytes(`k${i % 7}${String(i * 70 + 60).padStart(5, '0')}`);
    const seqno = 1000 + random.below(100_000);
    rows.push({
      file: '',
      start: toHex(start),
      end: toHex(end),
      seqno: String(seqno),
      type: 'range_delete',
    });
    return { startKey: internalKey(start, seqno, ValueType.rangeDeletion), end };
  });
  tombstones.sort((a, b) => compareArrays(a.startKey, b.startKey));
  const merged = new Set(rows.filter(({ type }) => type === 'merge').map(({ key }) => key!));
  const view = new Map<string, string | undefined>(
    entries.map(({ key }) => [toHex(key.subarray(0, -8)), undefined]),
  );
  const operator = APPEND.status === 'known' ? APPEND.operator : undefined;
  for (const row of userView(rows, operator)) view.set(row.key, shownValue(row));
  return { entries: order.map((i) => entries[i]!), tombstones, view, merged };
}

/** Of an entity a get shows the default column. */
function shownValue({ value, columns }: UserRow): string {
  return value ?? columns?.find(({ name }) => name === '')?.value ?? '';
}

/** The bytes of a value, and what a row shows of it. */
function makeValue(
  random: SeededRandom,
  type: number,
): { bytes: Uint8Array; shown: Pick<JsonRow, 'value' | 'columns'> } {
  const text = utf8Bytes(
    `value ${random.below(1000)} `.repeat(1 + random.below(random.chance(0.02) ? 600 : 8)),
  );
  const out = new ByteWriter();
  switch (type) {
    case ValueType.value:
    case ValueType.merge:
      return { bytes: text, shown: { value: toHex(text) } };
    case ValueType.valuePreferredSeqno:
      out.append(text);
      out.fixed64(BigInt(random.below(1000)));
      return { bytes: out.copy(), shown: { value: toHex(text) } };
    case ValueType.wideColumnEntity: {
      const names = random.chance(0.5) ? ['', 'one'] : ['one', 'two'];
      encodeWideColumns(
        names.map((name) => ({ name: utf8Bytes(name), value: text })),
        out,
      );
      const columns = names.map((name) => ({ name: toHex(utf8Bytes(name)), value: toHex(text) }));
      return { bytes: out.copy(), shown: { columns } };
    }
    case ValueType.blobIndex:
      encodeBlobIndex(
        {
          kind: 'blob',
          expirationSeconds: undefined,
          fileNumber: 7,
          offset: 40,
          size: 12,
          compressionType: 0,
        },
        out,
      );
      return { bytes: out.copy(), shown: {} };
    default:
      return { bytes: new Uint8Array(0), shown: { value: '' } };
  }
}

/** Entries with the same bytes for all versions of the readers. */
const CONTENTS = new Map([5, 7].map((version) => [version, mixedEntries(version, version)]));

function factsOf({ entries, tombstones }: TableContents, bytes: Uint8Array): TableFacts {
  const seqnos = [...entries.map(({ key }) => key), ...tombstones.map(({ startKey }) => startKey)].map(
    (key) => Number(new DataView(key.buffer).getBigUint64(key.length - 8, true) >> 8n),
  );
  // Tombstones reach neither before the first nor behind the last key.
  return {
    bytes,
    smallest: entries[0]!.key,
    largest: entries.at(-1)!.key,
    smallestSeqno: Math.min(...seqnos),
    largestSeqno: Math.max(...seqnos),
  };
}

async function expectNoFindings(file: string): Promise<void> {
  const found: string[] = [];
  await verifyPaths(
    environment,
    { paths: [file], recursive: false, checksumsOnly: false, order: true, maxFindings: 100, strict: false },
    {
      report: ({ status, findings }) => {
        const worse = findings.filter(
          ({ code, severity }) => severity !== 'note' && code !== 'checksums_absent',
        );
        found.push(status, ...worse.map(({ message }) => message));
      },
      skipped: () => undefined,
      progress: () => undefined,
    },
  );
  expect(found).toEqual(['ok']);
}

/** `HEX    <user key>: <value>` of data blocks and range tombstones, upper case as the tool prints it. */
function expectSameRawDump(file: string, { entries, tombstones }: TableContents): void {
  const check = runTool('sst_dump', [`--file=${file}`, '--command=check', '--verify_checksum']);
  expect(check.status).toBe(0);
  expect(check.stdout + check.stderr).not.toMatch(/corrupt|not ok|error|mismatch|unknown/i);
  expect(runTool('sst_dump', [`--file=${file}`, '--command=raw'])).toMatchObject({ status: 0 });
  const dump = readFileSync(file.replace(/\.sst$/, '_dump.txt'), 'latin1');
  const section = (name: string) => dump.split(name)[1] ?? '';
  const rows = (text: string) => [...text.matchAll(/^ {2}HEX {4}([0-9A-F]*): ([0-9A-F]*)$/gm)];
  const shown = rows(section('Data Block # 1 @').split('Data Block Summary')[0]!).map(
    ([, key, value]) => `${key} ${value}`,
  );
  const upper = (bytes: Uint8Array) => toHex(bytes).toUpperCase();
  expect(shown).toEqual(entries.map(({ key, value }) => `${upper(key.subarray(0, -8))} ${upper(value)}`));
  const ranges = rows(section('Range deletions')).map(([, start, end]) => `${start} ${end}`);
  expect(ranges.slice(0, tombstones.length)).toEqual(
    tombstones.map(({ startKey, end }) => `${upper(startKey.subarray(0, -8))} ${upper(end)}`),
  );
}

async function expectSameView(engine: Engine, facts: TableFacts, { view, merged }: Mixed): Promise<void> {
  const db = await openAsDatabase(engine, folder, facts);
  try {
    for (const [key, value] of view) {
      if (merged.has(key) && engine.mergeOperator === undefined) continue;
      const found = db.get(Buffer.from(key, 'hex'));
      const shown = found === undefined ? undefined : toHex(found);
      if (shown !== value) expect(shown, `${engine.name}, key ${key}`).toBe(value);
    }
    const rows = await db.rows?.();
    if (rows === undefined) return;
    expect(rows.map(([key, value]) => `${toHex(key)} ${toHex(value)}`)).toEqual(
      [...view].flatMap(([key, value]) => (value === undefined ? [] : [`${key} ${value}`])).sort(),
    );
  } finally {
    await db.close();
  }
}

it(`${CASES.length} sets of options: verify, sst_dump 7.8.3, RocksDB 9.7.4 and 11.8.1 read the same`, async () => {
  expect(CASES.length).toBeGreaterThanOrEqual(60);
  for (const [i, { name, formatVersion, options }] of CASES.entries()) {
    const contents = CONTENTS.get(formatVersion <= 5 ? 5 : 7)!;
    const { bytes } = await writeTable(contents, options, environment);
    const file = path.join(folder, `${i}.sst`);
    writeFileSync(file, bytes);
    try {
      await expectNoFindings(file);
      if (HAS_SST_DUMP && formatVersion <= 5) expectSameRawDump(file, contents);
      for (const engine of ENGINES) {
        if (!engine.reads(formatVersion, options.compression)) continue;
        await expectSameView(engine, factsOf(contents, bytes), contents);
      }
    } catch (error) {
      throw new Error(`${name}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
    rmSync(file);
  }
});

/** A filter that forgets a key loses it for the engine, which asks the filter first. */
const FILTERS: {
  formatVersion: number;
  filter: string;
  engine: Engine | undefined;
  options?: TableOptions;
}[] = [
  { formatVersion: 4, filter: 'bloom:10', engine: rocksdb9('bloomfilter:10') },
  { formatVersion: 5, filter: 'ribbon:10', engine: rocksdb9('ribbonfilter:10') },
  {
    formatVersion: 6,
    filter: 'bloom:10',
    engine: rocksdb9('bloomfilter:10'),
    options: { indexType: 'two_level', partitionFilters: true },
  },
  { formatVersion: 7, filter: 'bloom:10', engine: rocksdb11() },
];

describe.each(FILTERS)('format_version $formatVersion with filter $filter', (test) => {
  const { formatVersion, filter, engine, options } = test;
  it.skipIf(engine === undefined)(`all of ${PRESENT_KEYS} present keys are found`, async () => {
    const entries = Array.from({ length: PRESENT_KEYS }, (_, i) => {
      const key = utf8Bytes(`key${String(i).padStart(8, '0')}`);
      return { key: internalKey(key, i + 1, ValueType.value), value: utf8Bytes(String(i)) };
    });
    const contents = { entries, tombstones: [] };
    const { bytes } = await writeTable(
      contents,
      { formatVersion, filterPolicy: parseFilterPolicy(filter)!, compression: 'zstd', ...options },
      environment,
    );
    const db = await openAsDatabase(engine!, folder, factsOf(contents, bytes));
    try {
      const missing = entries.filter(({ key, value }) => {
        const found = db.get(key.subarray(0, -8));
        return found === undefined || compareArrays(found, value) !== 0;
      });
      expect(missing).toEqual([]);
      expect(db.get(utf8Bytes('key'))).toBeUndefined();
    } finally {
      await db.close();
    }
  });
});
