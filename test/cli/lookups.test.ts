/** `get`, `explain` and `bench-read` as a user runs them. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Ajv from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../bug-cases/run-here.ts';
import { PROJECT_ROOT } from '../support/cli.ts';
import { FIXTURE_ROOT, fixture } from '../support/fixtures.ts';
import { flipBit, patchBlock } from '../support/patch.ts';

const ajv = new Ajv({ allErrors: true, strict: true, strictTypes: false });
const schemaOf = (name: string) =>
  ajv.compile(JSON.parse(readFileSync(path.join(PROJECT_ROOT, 'schema', `${name}.schema.json`), 'utf8')));
const schemas = { get: schemaOf('get'), explain: schemaOf('explain'), 'bench-read': schemaOf('bench-read') };

// biome-ignore lint/suspicious/noExplicitAny: what a document holds is what the tests are about
type Document = any;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sstkit-lookups-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function json(...words: string[]) {
  const { status, stdout, stderr } = await runHere([...words, '--json'], { cwd: PROJECT_ROOT });
  const document = JSON.parse(stdout.toString());
  const isValid: ReturnType<typeof schemaOf> = schemas[words[0] as keyof typeof schemas];
  if (isValid(document) !== true) expect.fail(`${words.join(' ')}: ${ajv.errorsText(isValid.errors)}`);
  return { status, stderr, document: document as Document };
}

async function text(...words: string[]) {
  const { status, stdout, stderr } = await runHere(words, { cwd: PROJECT_ROOT });
  return { status, stderr, lines: stdout.toString().trimEnd().split('\n') };
}

/** What a command prints on stdout. */
async function stdoutOf(...words: string[]): Promise<string> {
  return (await runHere(words, { cwd: PROJECT_ROOT })).stdout.toString();
}

async function blocksOf(file: string): Promise<Document[]> {
  const rows = await stdoutOf('dump', file, '--blocks', '--format', 'ndjson');
  return rows
    .trimEnd()
    .split('\n')
    .map((row) => JSON.parse(row));
}

describe('get', () => {
  it('a key that is there, one that is not, a deleted one: in the order given', async () => {
    const { status, document } = await json('get', 'demo:basic.sst', 'nobody', 'user:0001', 'user:0042');
    expect(status).toBe(0);
    expect(document.results.map((result: { found: boolean }) => result.found)).toEqual([false, true, false]);
    expect(document.results[1]).toMatchObject({ seqno: '1', type: 'put', file: 'demo:basic.sst' });
    const { lines } = await text('get', 'demo:basic.sst', 'user:0001', 'hex:00');
    expect(lines).toEqual([
      'user:0001\t1\tput\t{"name":"Edda","city":"Kyoto","visits":972}',
      '\\x00\tnot found',
    ]);
  });

  it('--at-seqno sees what was there', async () => {
    const { document } = await json('get', 'demo:basic.sst', 'user:0042', '--at-seqno', '181');
    expect(document.results[0]).toMatchObject({ found: true, seqno: '42' });
    expect((await text('get', 'demo:basic.sst', 'k', '--at-seqno', '-1')).status).toBe(2);
    expect((await text('get', 'demo:basic.sst', 'k', '--at-seqno', String(2n ** 56n))).status).toBe(2);
  });

  it('merges with the operator of the file, or the one that is given', async () => {
    const file = path.join(FIXTURE_ROOT, 'content/merges.sst');
    const value = async (...flags: string[]): Promise<string> =>
      (await text('get', file, 'a', ...flags)).lines[0]!.split('\t')[3]!;
    expect(await value()).toBe('base,x,y');
    expect(await value('--merge-operator', 'stringappend:;')).toBe('base;x;y');
    expect((await text('get', file, 'a', '--merge-operator', 'none')).status).toBe(2);
  });

  it('--all-versions: every version, with what covers it', async () => {
    const { lines } = await text(
      'get',
      'demo:basic.sst',
      'user:0042',
      '--all-versions',
      '--format',
      'ndjson',
    );
    expect(JSON.parse(lines[0]!)).toMatchObject({
      seqno: '42',
      type: 'put',
      level: null,
      coveredBy: ['182'],
    });
    const { document } = await json('get', 'demo:basic.sst', 'user:0003:tags', '--all-versions');
    expect(document.versions.map(({ type }: { type: string }) => type)).toEqual(['merge', 'merge', 'put']);
    expect((await text('get', 'demo:basic.sst', 'k', '--format', 'ndjson')).status).toBe(2);
  });

  it('entities and blob references', async () => {
    const entities = path.join(FIXTURE_ROOT, 'content/entities.sst');
    const [first] = fixture('content/entities.sst').expected!().entries;
    const { document } = await json('get', entities, `hex:${first!.key}`);
    expect(document.results[0]).toMatchObject({ found: true, type: first!.type });
    const blobs = path.join(FIXTURE_ROOT, 'db/blob/000009.sst');
    const blob = fixture('db/blob/000009.sst').expected!().entries.find(({ type }) => type === 'blob_index')!;
    const found = await json('get', blobs, `hex:${blob.key}`);
    expect(found.document.results[0]).toMatchObject({ type: 'blob_index', blob: { kind: 'blob' } });
    expect((await text('get', blobs, `hex:${blob.key}`)).lines[0]).toContain('blob_index');
  });

  it('a DB directory: its tables as one, and a note that this is not all', async () => {
    const { status, stderr } = await text('get', path.join(FIXTURE_ROOT, 'db/mixed'), 'nobody');
    expect(status).toBe(0);
    expect(stderr).toContain('not its MANIFEST and its logs');
  });

  it('damage in the block is status 1, in the filter a complaint', async () => {
    const file = path.join(folder, 'flipped.sst');
    const { bytes } = fixture('demo/basic.sst');
    writeFileSync(file, flipBit(bytes(), 500));
    expect((await text('get', file, 'user:0001')).status).toBe(1);
    writeFileSync(file, flipBit(bytes(), 3820));
    const { status, lines, stderr } = await text('get', file, 'user:0001');
    expect({ status, row: lines[0]!.split('\t')[1] }).toEqual({ status: 0, row: '1' });
    expect(stderr).toMatch(/filter block at 3816.*not asked/);
  });

  it('a block that cannot be read hides its own keys alone; --strict ends there', async () => {
    const file = path.join(folder, 'one-block.sst');
    const source = fixture('version/fv5-xxh3.sst');
    const blocks = await blocksOf(source.path);
    const data = blocks.filter(({ type }) => type === 'data');
    const [first, damaged, last] = [data[0], data[1], data.at(-1)];
    writeFileSync(file, flipBit(source.bytes(), damaged.offset + 1));
    const keys = [first, damaged, last].map(({ firstKey }) => `hex:${firstKey}`);
    const { status, document, stderr } = await json('get', file, ...keys);
    expect(status).toBe(1);
    expect(stderr).toContain(`data block at ${damaged.offset}`);
    const [before, unread, behind] = document.results;
    expect(before.error ?? behind.error).toBeUndefined();
    expect(unread).toMatchObject({
      found: false,
      error: { code: 'block_checksum', file, offset: damaged.offset, blockType: 'data' },
    });
    expect((await text('get', file, ...keys)).lines[1]).toMatch(/\tnot readable$/);
    const versions = await json('get', file, ...keys, '--all-versions');
    expect(versions.status).toBe(1);
    expect(versions.document.versions.at(-1).key).toBe(last.firstKey);
    const strict = await text('get', file, ...keys, '--strict');
    expect(strict).toMatchObject({ status: 1, lines: [''] });
  });

  it('damage behind checksums that hold is told with its place', async () => {
    const { bytes, expected } = fixture('version/fv5-none.sst');
    const file = path.join(folder, 'malformed.sst');
    const key = `hex:${expected!().entries[0]!.key}`;
    const blocks = await blocksOf(fixture('version/fv5-none.sst').path);
    for (const type of ['data', 'index']) {
      const block = blocks.find((each) => each.type === type);
      // Shares bytes with a key that is not there; then a number of restarts that does not fit.
      for (const at of [0, block.size - 2]) {
        const edit = (payload: Uint8Array): void => void payload.fill(0x3f, at, at + 1);
        writeFileSync(file, patchBlock(bytes(), block, { edit }));
        const place = `${type} block at ${block.offset}`;
        const found = await text('get', file, key);
        expect({ type, at, status: found.status }).toEqual({ type, at, status: 1 });
        expect(found.stderr).toContain(place);
        const explained = (await json('explain', file, key)).document.tables[0].verdict;
        expect(explained.code).toBe('damage');
        expect(explained.text).toContain(place);
        expect((await text('get', file, key, '--all-versions')).stderr).toContain(place);
      }
    }
  });

  it('damaged properties are damage, not a comparator that nobody knows', async () => {
    const file = path.join(folder, 'properties.sst');
    const { bytes } = fixture('demo/basic.sst');
    const dump = await stdoutOf('dump', 'demo:basic.sst', '--json');
    const { offset } = JSON.parse(dump).metaindex.find(
      ({ name }: { name: string }) => name === 'rocksdb.properties',
    );
    writeFileSync(file, flipBit(bytes(), offset + 3));
    for (const command of ['get', 'explain']) {
      expect(await text(command, file, 'user:0001')).toMatchObject({ status: 1 });
      expect(
        (await text(command, file, 'user:0001', '--comparator', 'leveldb.BytewiseComparator')).status,
      ).toBe(0);
    }
  });

  it('rows of --all-versions are those of scan: timestamps, stored sequence numbers', async () => {
    const ingested = path.join(FIXTURE_ROOT, 'db/ingest/000010.sst');
    const timestamps = path.join(FIXTURE_ROOT, 'content/timestamps.sst');
    for (const file of [ingested, timestamps]) {
      const scanned = await stdoutOf('scan', file, '--limit', '1', '--format', 'ndjson');
      const row = JSON.parse(scanned);
      expect(row.storedSeqno ?? row.timestamp).toBeDefined();
      const words = ['get', file, `hex:${row.key}`, '--all-versions'];
      const { document } = await json(...words);
      expect(document.versions[0]).toMatchObject(row);
      const mark =
        row.timestamp === undefined ? `storedSeqno=${row.storedSeqno}` : `timestamp=${row.timestamp}`;
      expect((await text(...words)).lines[0]!.split('\t')).toContain(mark);
    }
  });

  it('a database without a table has no key; one whose tables are all not supported is status 4', async () => {
    const empty = path.join(folder, 'empty-db');
    mkdirSync(empty);
    writeFileSync(path.join(empty, 'CURRENT'), 'MANIFEST-000001\n');
    const found = await json('get', empty, 'k');
    expect(found).toMatchObject({ status: 0, document: { results: [{ key: '6b', found: false }] } });
    expect(await json('explain', empty, 'k')).toMatchObject({ status: 0, document: { tables: [] } });
    expect((await text('bench-read', empty)).status).toBe(3);
    for (const command of ['get', 'explain', 'bench-read']) {
      const words = command === 'bench-read' ? [] : ['k'];
      expect((await text(command, path.join(FIXTURE_ROOT, 'plain'), ...words)).status).toBe(4);
    }
  });

  it('other kinds of files', async () => {
    expect((await text('get', path.join(FIXTURE_ROOT, 'plain/plain-fixed.sst'), 'k')).status).toBe(4);
    expect((await text('get', path.join(FIXTURE_ROOT, 'README.md'), 'k')).status).toBe(3);
    expect((await text('get', path.join(FIXTURE_ROOT, 'content/unknown-comparator.sst'), 'k')).status).toBe(
      2,
    );
  });
});

describe('explain', () => {
  it('every fixture: the verdict is that of get, and all ranges lie in the file', async () => {
    for (const name of [
      'demo/basic.sst',
      'filter/partitioned-prefix.sst',
      'index/two-level-zstd.sst',
      'block/hash-index.sst',
      'leveldb/snappy-bloom.ldb',
      'filter/ribbon.sst',
      'filter/bloom-legacy-fv2.sst',
      'compression/dict-zstd-raw.sst',
      'db/ingest/000010.sst',
    ]) {
      const { path: file, bytes, expected } = fixture(name);
      const size = bytes().length;
      const { entries } = expected!();
      for (const key of [entries[0]!.key, entries.at(-1)!.key, `${entries[0]!.key}00`, 'ffffff']) {
        const explained = (await json('explain', file, `hex:${key}`)).document.tables[0];
        const found = (await json('get', file, `hex:${key}`)).document.results[0].found;
        const visible = explained.verdict.code === 'found' || explained.verdict.code === 'merge';
        expect({ name, key, visible, code: explained.verdict.code }).toMatchObject({ visible: found });
        for (const { range } of explained.steps) {
          if (range !== undefined) expect(range.offset + range.size).toBeLessThanOrEqual(size);
        }
      }
    }
  });

  it('shows hash, line and bits of the filter, and why a key is hidden', async () => {
    const { lines } = await text('explain', 'demo:basic.sst', 'user:0042');
    expect(lines.join('\n')).toMatch(
      /fast_local_bloom asked for the key: hash [0-9a-f]{16}, line at \d+ \(64 bytes\): bit \d+ set/,
    );
    expect(lines.at(-1)).toMatch(/^=> range_deleted: put 42 is deleted by the range tombstone 182/);
    const { document } = await json('explain', 'demo:basic.sst', 'user:0042', '--at-seqno', '100');
    expect(document.tables[0].verdict.code).toBe('found');
  });

  it('says of a version that is too new that it is', async () => {
    const { document } = await json('explain', 'demo:basic.sst', 'user:0001', '--at-seqno', '0');
    expect(document.tables[0].verdict).toMatchObject({ code: 'newer_than_read', seqno: '1', type: 'put' });
    const never = await json('explain', 'demo:basic.sst', 'user:0001x', '--at-seqno', '0', '--no-filter');
    expect(never.document.tables[0].verdict.code).toBe('not_in_block');
  });

  it('with timestamps it passes the versions that are too new, and shows user keys', async () => {
    const { path: file, expected } = fixture('content/timestamps.sst');
    const { entries } = expected!();
    const versions = entries.filter(({ key }) => key === entries[0]!.key);
    const oldest = versions.toSorted((a, b) => Number(BigInt(a.seqno) - BigInt(b.seqno)))[0]!;
    const words = [file, `hex:${oldest.key}`, '--at-seqno', String(oldest.seqno)];
    const { verdict, steps } = (await json('explain', ...words)).document.tables[0];
    expect(verdict.seqno).toBe(String(oldest.seqno));
    const data = steps.find(({ step }: { step: string }) => step === 'data');
    expect(data.entries.at(-1)).toMatchObject({ key: oldest.key, timestamp: oldest.timestamp });
  });

  it('a damaged filter is not asked, and the look-up goes on', async () => {
    const file = path.join(folder, 'filter.sst');
    writeFileSync(file, flipBit(fixture('demo/basic.sst').bytes(), 3820));
    const { status, document } = await json('explain', file, 'user:0001');
    expect({ status, code: document.tables[0].verdict.code }).toEqual({ status: 0, code: 'found' });
    expect(JSON.stringify(document)).toContain('cannot be read, and is not asked');
  });

  it('an entry has the sequence number that counts', async () => {
    const file = path.join(FIXTURE_ROOT, 'db/ingest/000010.sst');
    const { entries } = fixture('db/ingest/000010.sst').expected!();
    const explained = (await json('explain', file, `hex:${entries[0]!.key}`)).document.tables[0];
    expect(explained.steps.at(-1).entries[0].seqno).toBe(explained.verdict.seqno);
  });

  it('damage is the verdict, status 1', async () => {
    const file = path.join(folder, 'damaged.sst');
    writeFileSync(file, flipBit(fixture('demo/basic.sst').bytes(), 500));
    const { status, document } = await json('explain', file, 'user:0001');
    expect({ status, code: document.tables[0].verdict.code }).toEqual({ status: 1, code: 'damage' });
  });

  it('--at: every byte of a file means something', async () => {
    const { path: file, bytes } = fixture('version/fv5-xxh3.sst');
    const size = bytes().length;
    const parts = new Set<string>();
    for (let at = 0; at < size; at += 37) {
      const { document } = await json('explain', file, '--at', String(at));
      const { partOffset, partSize, part } = document;
      expect(partOffset).toBeLessThanOrEqual(at);
      expect(partOffset + partSize).toBeGreaterThan(at);
      parts.add(part);
    }
    for (const part of ['entry.key', 'entry.value', 'footer.handles']) expect([...parts]).toContain(part);
    expect((await text('explain', file, '--at', String(size))).status).toBe(2);
    expect((await text('explain', file)).status).toBe(2);
  });
});

describe('bench-read', () => {
  it("prints db_bench's lines", async () => {
    const benchmarks = 'readrandom[X2-W1],readmissing,multireadrandom,seekrandom,readseq';
    const { lines, status } = await text(
      'bench-read',
      'demo:basic.sst',
      `--benchmarks=${benchmarks}`,
      '--reads=200',
      '--seek-nexts=2',
      '--statistics',
    );
    expect(status).toBe(0);
    const line =
      /^(\w+) *: +[\d.]+ micros\/op \d+ ops\/sec [\d.]+ seconds \d+ operations;( +[\d.]+ MB\/s)?( \(\d+ of \d+ found\))?$/;
    expect(lines.slice(0, 6).map((each) => line.exec(each)?.[1])).toEqual([
      'readrandom',
      'readrandom',
      'readmissing',
      'multireadrandom',
      'seekrandom',
      'readseq',
    ]);
    expect(lines[0]).toContain('(200 of 200 found)');
    expect(lines[2]).toContain('(0 of 200 found)');
    expect(lines[6]).toMatch(
      /^readrandom \[AVG 2 runs\] : \d+ \(± \d+\) ops\/sec; +[\d.]+ \(± [\d.]+\) MB\/sec$/,
    );
    expect(lines[7]).toMatch(/^readrandom \[MEDIAN 2 runs\] : \d+ ops\/sec/);
    expect(lines.join('\n')).toMatch(/rocksdb\.number\.keys\.read COUNT : 800/);
  });

  it('JSON, and the comparison of published change 1', async () => {
    const file = path.join(FIXTURE_ROOT, 'compression/dict-zstd-trained.sst');
    const run = await json('bench-read', file, '--reads=100');
    expect(run.document.results).toHaveLength(2);
    const compared = await json(
      'bench-read',
      file,
      '--reads=20',
      '--compare-dict-fetch',
      '--rounds=2',
      '--cache-size=0',
    );
    expect(compared.document.comparison.dataOnly).toHaveLength(2);
    expect(compared.document.comparison.fetches.dataOnly).toEqual({ data: 60 });
  });

  it('a strict cache that has no room for what is pinned is wrong usage', async () => {
    const file = path.join(FIXTURE_ROOT, 'index/two-level.sst');
    const flags = ['--strict-capacity-limit', '--cache-index-and-filter-blocks', '--cache-size=100'];
    const { status, stderr } = await text('bench-read', file, ...flags);
    expect({ status, stderr: /no room for \d+ more/.test(stderr) }).toEqual({ status: 2, stderr: true });
  });

  it('published change 2: names are compared once for each instance', async () => {
    const file = path.join(FIXTURE_ROOT, 'filter/prefix-only.sst');
    const name = String((await text('explain', file, 'k')).lines.join(' ').match(/rocksdb\.\w+\.\d+/)?.[0]);
    const words = ['--compare-extractor', '--reads=50', '--rounds=3', `--prefix-extractor=${name}`];
    const { document } = await json('bench-read', file, ...words);
    expect(document.extractors.nameComparisons).toMatchObject({
      same_instance: 0,
      equal_instance: 1,
      none: 0,
    });
    expect((await text('bench-read', file, '--compare-extractor')).status).toBe(2);
  });

  it('wrong names are refused', async () => {
    for (const benchmarks of ['fillseq', 'readrandom[Y3]', 'readrandom[X0]', ''])
      expect((await text('bench-read', 'demo:basic.sst', `--benchmarks=${benchmarks}`)).status).toBe(2);
  });
});
