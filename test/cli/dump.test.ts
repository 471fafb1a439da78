/** The dump command on the table files of every writer, on damaged twins, and in every form of output. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { main } from '../../src/cli.ts';
import { computeBlockChecksum } from '../../src/hash/block-checksum.ts';
import { twinHashFunctions } from '../../src/hash/hash-functions.ts';
import { ChecksumType } from '../../src/hash/registry.ts';
import { type ByteSink, MemorySink } from '../../src/render/sink.ts';
import { compareReleases, compatibilityOf } from '../../src/tools/compatibility.ts';
import { PROJECT_ROOT, runCli } from '../support/cli.ts';
import { parseDumpDocument } from '../support/dump-document.ts';
import { type Fixture, fixture, fixtures, type SharedTable, sharedFixtures } from '../support/fixtures.ts';
import { append, flipBit, overwrite, patchBlock, truncate } from '../support/patch.ts';

// biome-ignore lint/suspicious/noExplicitAny: documents are checked against their schema
type Document = any;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sstkit-dump-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Standard output of the command that runs in this process. */
const captured = vi.hoisted(() => ({ stdout: undefined as ByteSink | undefined }));

vi.mock('../../src/render/sink.ts', async (load) => ({
  ...(await load<typeof import('../../src/render/sink.ts')>()),
  stdoutSink: () => captured.stdout,
}));

interface Outcome {
  status: unknown;
  stdout: string;
  stderr: string;
}

/** `sstkit dump` in this process: a process of its own takes a hundred times as long. */
async function dump(...args: string[]): Promise<Outcome> {
  const stdout = new MemorySink(64 * 1024);
  captured.stdout = stdout;
  let stderr = '';
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    stderr += text;
    return true;
  });
  try {
    await main(['dump', ...args]);
    return { status: process.exitCode, stdout: stdout.toString(), stderr };
  } finally {
    process.exitCode = undefined;
    write.mockRestore();
  }
}

interface JsonResult {
  status: unknown;
  document: Document;
  stderr: string;
}

async function dumpJson(...args: string[]): Promise<JsonResult> {
  const { status, stdout, stderr } = await dump('--json', ...args);
  return { status, document: parseDumpDocument(stdout), stderr };
}

/** The same by the built program. */
async function runDumpJson(...args: string[]): Promise<JsonResult> {
  const { status, stdout, stderr } = await runCli(['dump', '--json', ...args]);
  return { status, document: parseDumpDocument(stdout), stderr };
}

async function dumpText(...args: string[]): Promise<string> {
  return (await dump(...args)).stdout;
}

/** A file in the test's own folder. */
function fileOf(name: string, bytes: Uint8Array): string {
  const file = path.join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

function metaBlock(document: Document, type: string): { name: string; offset: number; size: number } {
  return document.metaindex.find((entry: { type: string }) => entry.type === type);
}

const FILTER_FEATURES = ['bloom', 'legacy_bloom', 'ribbon', 'leveldb_bloom'];
const WHOLE = fixtures().filter((each) => each.expected !== undefined);

describe('every table file', () => {
  const byPath = new Map<string, Document>();
  beforeAll(async () => {
    const { status, document, stderr } = await runDumpJson('--blocks', ...WHOLE.map((each) => each.path));
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const file of document.files) byPath.set(file.path, file);
  });

  it.each(WHOLE.map((each) => [each.name, each] as const))('%s', (_, each: Fixture) => {
    const found = byPath.get(each.path);
    expect(found.footer.format).toBe(each.format);
    if (each.formatVersion !== undefined) expect(found.footer.formatVersion).toBe(each.formatVersion);
    if (each.checksum !== undefined) expect(found.footer.checksum).toBe(each.checksum);
    const { entries, rangeTombstones } = each.expected!();
    expect(found.rangeTombstones).toBe(rangeTombstones.length);
    expect(found.size).toBe(each.bytes().length);
    const offsets = found.blockList.map((row: { offset: number }) => row.offset);
    expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
    if (each.format === 'plain' || each.format === 'cuckoo') return;
    expect(found.blockList.every((row: { checksumOk: boolean }) => row.checksumOk !== false)).toBe(true);
    expect(sumOf(found, 'data', 'entries')).toBe(entries.length);
    for (const [kind, totals] of Object.entries(found.blocks) as [string, Document][]) {
      expect(totals.count).toBe(found.blockList.filter((row: { type: string }) => row.type === kind).length);
      expect(totals.bytes).toBe(sumOf(found, kind, 'size'));
      if (totals.rawBytes !== null) expect(totals.rawBytes).toBe(sumOf(found, kind, 'rawSize'));
      expect(Object.values(totals.byCompression as number[]).reduce((sum, count) => sum + count, 0)).toBe(
        totals.count,
      );
    }
    expect(found.index.entries).toBe(found.blocks.data.count);
    for (const feature of each.features.filter((name) => FILTER_FEATURES.includes(name))) {
      expect(filterFeature(found.filter)).toBe(feature);
    }
    for (const type of ['first_key', 'hash', 'two_level']) {
      if (each.features.includes(`index_${type}`)) expect(found.index.type).toBe(type);
    }
    expect(found.dictionary?.used ?? false).toBe(each.features.includes('dictionary'));
  });

  function sumOf(found: Document, kind: string, column: string): number {
    return found.blockList
      .filter((row: { type: string }) => row.type === kind)
      .reduce((sum: number, row: Document) => sum + row[column], 0);
  }

  function filterFeature({ kind }: { kind: string }): string {
    return kind === 'fast_local_bloom' ? 'bloom' : kind === 'block_based' ? 'leveldb_bloom' : kind;
  }
});

describe('what the real tool says', () => {
  const tables = sharedFixtures().tables;
  let dumps: Map<string, Document>;
  beforeAll(async () => {
    if (tables.length === 0) return;
    const { status, document } = await runDumpJson(...tables.map((table) => table.path));
    expect(status).toBe(0);
    dumps = new Map(document.files.map((file: Document) => [file.path, file]));
  });

  it.each(tables.map((table) => [table.name, table] as const))('%s', (_, table: SharedTable) => {
    const found = dumps.get(table.path);
    expect(found.findings.filter((finding: Document) => finding.severity === 'damage')).toEqual([]);
    const text = table.propertiesText?.();
    if (text === undefined) return;
    const count = (label: string): number =>
      Number(new RegExp(`^ {2}(?:# )?${label}(?: \\(.*\\))?: (\\d+)`, 'm').exec(text)?.[1]);
    const { properties } = found;
    expect(properties.numEntries).toBe(count('entries'));
    expect(properties.deletedKeys).toBe(count('deletions'));
    expect(found.rangeTombstones).toBe(count('range deletions'));
    expect(properties.rawKeySize).toBe(count('raw key size'));
    expect(properties.filterSize).toBe(count('filter block size'));
    if (found.footer.format === 'block-based' && count('data blocks') !== 0) {
      expect(found.blocks.data.count).toBe(count('data blocks'));
    }
    const list = /^Meta Blocks:\n-+\n((?: {2}.*\n)*)/m.exec(text)?.[1] ?? '';
    const expected = [...list.matchAll(/^ {2}(.+): (\d+) (\d+)$/gm)].map((match) => [
      match[1],
      Number(match[2]),
      Number(match[3]),
    ]);
    expect(expected.length).toBeGreaterThan(0);
    expect(found.metaindex.map((entry: Document) => [entry.name, entry.offset, entry.size])).toEqual(
      expected,
    );
  });
});

describe('entries', () => {
  it.each(['demo/basic.sst', 'content/timestamps.sst', 'content/entities.sst', 'plain/prefix-variable.sst'])(
    'of %s, as they were written, in every form',
    async (name) => {
      const each = fixture(name);
      const { entries, rangeTombstones } = each.expected!();
      const { document } = await dumpJson(each.path, '--entries');
      const listed = document.blockList.flatMap((row: Document) => row.entryList ?? []);
      const points = listed.filter((row: Document) => row.type !== 'range_delete');
      expect(points.map(({ key, seqno, type }: Document) => [key, seqno, type])).toEqual(
        entries.map(({ key, seqno, type }) => [key, seqno, type]),
      );
      const tombstones = listed.filter((row: Document) => row.type === 'range_delete');
      expect(tombstones.map(({ start, end, seqno }: Document) => [start, end, seqno])).toEqual(
        rangeTombstones.map(({ start, end, seqno }) => [start, end, seqno]),
      );
      const ndjson = (await dumpText(each.path, '--entries', '--format', 'ndjson')).trim().split('\n');
      const rows = ndjson.map((line) => JSON.parse(line));
      expect(rows.filter((row) => 'seqno' in row).map(({ file: _, ...row }) => row)).toEqual(listed);
      expect(new Set(rows.map((row) => row.file))).toEqual(new Set([each.path]));
      const csv = (await dumpText(each.path, '--entries', '--format', 'csv')).trim().split('\n');
      expect(csv.length).toBe(1 + listed.length);
      const text = (await dumpText(each.path, '--entries')).trim().split('\n');
      expect(text.length).toBe(2 + document.blockList.length + listed.length);
    },
  );

  it('tell where they stand and how their lengths are stored', async () => {
    const { document } = await dumpJson(fixture('demo/basic.sst').path, '--entries');
    const [first, second] = document.blockList[0].entryList;
    expect(first).toMatchObject({ block: 0, offset: 0, shared: 0, unshared: 20 });
    // Three one-byte lengths, the key, the value.
    expect(second.offset).toBe(3 + first.unshared + first.valueLength);
    expect(second.shared + second.unshared).toBe(20);
  });
});

describe('one block', () => {
  it('of any kind', async () => {
    for (const name of ['demo/basic.sst', 'index/hash.sst', 'filter/partitioned-ribbon.sst']) {
      const { path: file } = fixture(name);
      const { document: whole } = await dumpJson(file, '--blocks');
      for (const row of whole.blockList) {
        const { status, document } = await dumpJson(file, '--block', String(row.offset));
        expect(status).toBe(0);
        const { entryList, decoded, contents, filter, prefixes, ...same } = document.block;
        expect(same).toEqual(row);
        expect(decoded).toBe(true);
        if (row.entries === null) expect(contents.length).toBe(2 * row.rawSize);
        else expect(entryList.length).toBe(row.entries);
        if (row.type === 'index') expect(entryList[0].handle.offset).toBeGreaterThanOrEqual(0);
        if (row.type === 'filter_partition') expect(filter.kind).toBe('ribbon');
        if (row.type === 'hash_metadata') expect(prefixes.length).toBeGreaterThan(0);
      }
    }
  });

  it('that does not exist is wrong usage', async () => {
    const { status, stderr } = await dump(fixture('demo/basic.sst').path, '--block', '5');
    expect(status).toBe(2);
    expect(stderr).toContain('no block begins at 5; the nearest begin at 0 and 327');
  });

  it('shows what a damaged block would say', async () => {
    const file = fileOf('one.sst', flipBit(fixture('demo/basic.sst').bytes(), 5261 + 100));
    const { status, document } = await dumpJson(file, '--block', '5261');
    expect(status).toBe(1);
    expect(document.block).toMatchObject({ type: 'metaindex', checksumOk: false });
    expect(document.findings[0].code).toBe('block_checksum');
  });
});

describe('parts', () => {
  const { path: file } = fixture('content/user-properties.sst');

  it('--properties', async () => {
    const { document } = await dumpJson(file, '--properties');
    expect(document.properties).toMatchObject({ numEntries: 20, blockBasedTableWholeKeyFiltering: true });
    expect(document.userProperties).toEqual({ 'example.bytes': '00ff0a8005', 'example.entries': '3230' });
    expect(document).not.toHaveProperty('blocks');
    const text = await dumpText(file, '--properties');
    expect(text).toMatch(/^num\.entries +20$/m);
    expect(text).toMatch(/^example\.bytes +00ff0a8005 +\\x00\\xff\\x0a\\x80\\x05$/m);
    const rows = (await dumpText(file, '--properties', '--format', 'ndjson')).trim().split('\n');
    expect(rows.map((row) => JSON.parse(row))).toContainEqual({ file, name: 'numEntries', value: 20 });
    expect(await dumpText(file, '--properties', '--format', 'csv')).toContain(`\n${file},numEntries,20\n`);
  });

  it('--meta-blocks', async () => {
    const { document } = await dumpJson(file, '--meta-blocks');
    expect(document.metaindex).toEqual([
      { name: 'rocksdb.properties', offset: 389, size: 938, type: 'properties' },
    ]);
    expect(await dumpText(file, '--meta-blocks')).toMatch(/^rocksdb\.properties +properties +389 +938$/m);
    expect(await dumpText(file, '--meta-blocks', '--format', 'csv')).toBe(
      `file,name,type,offset,size\n${file},rocksdb.properties,properties,389,938\n`,
    );
  });

  it('--blocks as rows', async () => {
    const csv = (await dumpText(file, '--blocks', '--format', 'csv')).trim().split('\n');
    const ndjson = (await dumpText(file, '--blocks', '--format', 'ndjson')).trim().split('\n');
    const text = (await dumpText(file, '--blocks')).trim().split('\n');
    expect([csv.length, ndjson.length, text.length]).toEqual([5, 4, 5]);
    expect(csv[0]).toBe(
      'file,ordinal,type,offset,size,rawSize,compression,checksum,checksumOk,entries,restarts,firstKey,lastKey',
    );
  });

  it('csv shows one of them', async () => {
    const { status, stderr } = await dump(file, '--format', 'csv');
    expect(status).toBe(2);
    expect(stderr).toContain('csv shows one part');
  });

  it('of a file go to --out, which is not replaced unasked', async () => {
    const out = path.join(folder, 'out.json');
    expect((await dump(file, '--json', '--out', out)).status).toBe(0);
    parseDumpDocument(readFileSync(out, 'utf8'));
    expect((await dump(file, '--json', '--out', out)).status).toBe(2);
    expect((await dump(file, '--json', '--out', out, '--force')).status).toBe(0);
  });

  it('print keys as asked', async () => {
    const { document } = await dumpJson(fixture('content/binary-keys.sst').path, '--blocks');
    const base64 = await dumpJson(fixture('content/binary-keys.sst').path, '--blocks', '--bytes', 'base64');
    const keys = base64.document.blockList.map((row: Document) => row.firstKey);
    expect(keys.map((key: string | null) => key && Buffer.from(key, 'base64').toString('hex'))).toEqual(
      document.blockList.map((row: Document) => row.firstKey),
    );
  });
});

describe('text', () => {
  it('says what the file is made of', async () => {
    const text = await dumpText(fixture('demo/basic.sst').path);
    expect(text).toMatch(/basic\.sst: block-based table, format_version 5, 5427 bytes\n/);
    expect(text).toMatch(/^ {2}data +zstd +11 +3761 +10035 +2\.67$/m);
    expect(text).toMatch(/^ {2}kind +FastLocalBloom$/m);
    expect(text).toMatch(/^ {2}RocksDB 6\.27 and newer$/m);
    expect(text).not.toContain('\u001b[');
  });

  it('names the codecs of LevelDB tables and their readers', async () => {
    const text = await dumpText(fixture('leveldb/snappy-bloom.ldb').path);
    expect(text).toContain('LevelDB table');
    expect(text).toMatch(/^ {2}RocksDB from 1\.5 on, before 11\.0; LevelDB$/m);
  });
});

describe('global sequence numbers and timestamps', () => {
  it('stored and effective', async () => {
    const ingested = fixtures().find((each) => each.features.includes('global_seqno'))!;
    const { document } = await dumpJson(ingested.path);
    expect(document.globalSeqno.stored).toBe('0');
    expect(document.globalSeqno.effective).toBe(document.properties.externalSstFileGlobalSeqno);
    expect(BigInt(document.globalSeqno.effective)).toBeGreaterThan(0n);
  });

  it('of user-defined timestamps', async () => {
    const { document } = await dumpJson(fixture('content/timestamps.sst').path);
    expect(document.timestamps).toEqual({
      size: 8,
      persisted: true,
      min: '0000000000000000',
      max: '8877665544332211',
    });
  });
});

describe('damage', () => {
  const base = fixture('demo/basic.sst');
  const bytes = base.bytes();
  let whole: Document;
  beforeAll(async () => {
    whole = (await dumpJson(base.path)).document;
  });

  async function dumpTwin(name: string, twin: Uint8Array): Promise<JsonResult> {
    return dumpJson(fileOf(`${name}.sst`, twin), '--blocks');
  }

  it('of a data block: the others are counted, the lost keys are named', async () => {
    const { status, document, stderr } = await dumpTwin('data', flipBit(bytes, 1000));
    expect(status).toBe(1);
    expect(stderr).toMatch(/data\.sst: data block (\d+ )?at 765 .*: xxh3 mismatch, stored [0-9a-f]{8}/);
    expect(document.blocks.data.count).toBe(11);
    expect(document.blockList.filter((row: Document) => row.checksumOk === false)).toMatchObject([
      { type: 'data', ordinal: 2, offset: 765, entries: null, firstKey: null },
    ]);
    expect(document.findings).toMatchObject([
      {
        code: 'block_checksum',
        block: { type: 'data', offset: 765, ordinal: 2 },
        lost: { after: hex('user:0014'), before: hex('user:0031') },
        shape: 'bit_flip',
      },
    ]);
    const text = await dumpText(fileOf('data.sst', flipBit(bytes, 1000)), '--blocks');
    expect(text.match(/^.* bad .*$/gm)).toHaveLength(1);
  });

  it.each(['properties', 'filter', 'range_del'])('of the %s block: the rest is there', async (type) => {
    const { offset } = metaBlock(whole, type);
    const { status, document, stderr } = await dumpTwin(type, flipBit(bytes, offset + 30));
    expect(status).toBe(1);
    expect(stderr).toMatch(new RegExp(`${type} block .*at ${offset} .*mismatch`));
    expect(document.blocks.data.count).toBe(11);
    expect(document.properties === null).toBe(type === 'properties');
    expect(document.rangeTombstones).toBe(type === 'range_del' ? null : 3);
    expect(document.filter.kind).toBe('fast_local_bloom');
    expect(document.findings.map((finding: Document) => finding.code)).toEqual(['block_checksum']);
  });

  it('of the metaindex: the data blocks are there', async () => {
    const twin = flipBit(bytes, whole.footer.metaindex.offset + 10);
    const { status, document } = await dumpTwin('metaindex', twin);
    expect(status).toBe(1);
    expect(document).toMatchObject({ metaindex: null, properties: null, rangeTombstones: null });
    expect(document.index).toMatchObject({ entries: 11, guessed: true });
    expect(document.blocks.data.count).toBe(11);
  });

  it('of the index: the data blocks are found without', async () => {
    const { status, document } = await dumpTwin('index', flipBit(bytes, whole.footer.index.offset + 10));
    expect(status).toBe(1);
    expect(document).toMatchObject({ recovered: true, index: null, rangeTombstones: 3 });
    expect(document.blocks.data.count).toBe(11);
  });

  it('of the footer: the blocks are found by their checksums', async () => {
    for (const twin of [flipBit(bytes, bytes.length - 1), truncate(bytes, -60)]) {
      const { status, document, stderr } = await dumpTwin('footer', twin);
      expect(status).toBe(1);
      expect(stderr).toMatch(/footer\.sst: footer at \d+/);
      expect(document).toMatchObject({ footer: null, recovered: true, index: null });
      expect(document.blocks.data.count).toBe(11);
      expect(document.properties.numEntries).toBe(200);
    }
  });

  it('of a partition of the index: the others are there', async () => {
    const each = fixture('index/two-level.sst');
    const { document: before } = await dumpJson(each.path, '--blocks');
    const partition = before.blockList.find((row: Document) => row.type === 'index_partition');
    const { status, document } = await dumpTwin('partition', flipBit(each.bytes(), partition.offset + 5));
    expect(status).toBe(1);
    expect(document.blocks.data.count).toBeGreaterThan(0);
    expect(document.blocks.data.count).toBeLessThan(before.blocks.data.count);
    expect(document.findings[0]).toMatchObject({
      block: { type: 'index_partition', offset: partition.offset },
      lost: { after: null },
    });
  });

  it('behind a good checksum', async () => {
    // The number of restarts of an uncompressed block.
    const each = fixture('block/one-block.sst');
    const { document: before } = await dumpJson(each.path, '--blocks');
    const [block] = before.blockList;
    const twin = patchBlock(each.bytes(), block, {
      edit: (payload) => payload.set([0xff, 0xff, 0xff, 0x00], payload.length - 4),
    });
    const { status, document } = await dumpTwin('restarts', twin);
    expect(status).toBe(1);
    expect(document.findings[0]).toMatchObject({ code: 'block_format', block: { offset: 0, type: 'data' } });
    expect(document.blockList[0]).toMatchObject({ checksumOk: true, entries: null });
  });

  it('bytes behind the footer', async () => {
    const { status, document } = await dumpTwin('appended', append(bytes, new Uint8Array(17).fill(0x61)));
    expect(status).toBe(1);
    expect(document).toMatchObject({ appendedBytes: 17, recovered: false });
    expect(document.blocks.data.count).toBe(11);
  });

  it('--strict stops there', async () => {
    const file = fileOf('strict.sst', flipBit(bytes, 10));
    const { status, stdout } = await dump(file, '--blocks', '--strict', '--format', 'ndjson');
    expect(status).toBe(1);
    expect(stdout.trim().split('\n').length).toBeLessThan(5);
  });

  it('hides nothing when it is everywhere', async () => {
    // Every eighth byte of the file, in turn: no crash, no bug, one clean document.
    const small = fixture('content/one-entry.sst').bytes();
    const files: string[] = [];
    for (let offset = 0; offset < small.length; offset += 8) {
      files.push(fileOf(`flip-${offset}.sst`, flipBit(small, offset, offset % 7)));
    }
    const { status, document, stderr } = await dumpJson('--entries', ...files);
    expect(status).toBe(1);
    expect(document.files.length).toBe(files.length);
    expect(stderr).not.toContain('internal error');
  });
});

describe('a compression dictionary that no block uses', () => {
  it('is noted, and nothing is wrong', async () => {
    const file = fileOf('unused.sst', withDictionary(fixture('version/fv5-crc32c.sst').bytes(), 4096));
    const { status, document, stderr } = await dumpJson(file);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(document.dictionary).toMatchObject({ size: 4096, used: false });
    expect(document.findings).toMatchObject([{ code: 'dictionary_unused', severity: 'note' }]);
    expect(await dumpText(file)).toContain('unused dictionary');
    expect((await dump(file, '--verbose')).stderr).toContain('unused dictionary');
  });

  /**
   * The table with one meta block more: the dictionary and a new metaindex stand where the old metaindex stood, and
   * the footer behind them points to it. For a crc32c table of format_version 1 to 5.
   */
  function withDictionary(table: Uint8Array, length: number): Uint8Array {
    const footer = table.slice(table.length - 53);
    const [metaOffset, afterOffset] = varintAt(footer, 1);
    const [metaSize, afterSize] = varintAt(footer, afterOffset);
    const [indexOffset, afterIndex] = varintAt(footer, afterSize);
    const [indexSize] = varintAt(footer, afterIndex);
    const dictionary = new Uint8Array(length).fill(0x61);
    // The first entry of the metaindex has its whole name, and so has the new one, which sorts before it.
    const old = table.subarray(metaOffset, metaOffset + metaSize);
    const restarts = new DataView(old.buffer, old.byteOffset).getUint32(old.length - 4, true);
    const entries = old.subarray(0, old.length - 4 - 4 * restarts);
    const value = [...varint(metaOffset), ...varint(length)];
    const name = [...Buffer.from('rocksdb.compression_dict')];
    const entry = [0, name.length, value.length, ...name, ...value];
    const metaindex = [...entry, ...entries, 0, 0, 0, 0, 1, 0, 0, 0];
    const newOffset = metaOffset + length + 5;
    const handles = [newOffset, metaindex.length, indexOffset, indexSize].flatMap(varint);
    footer.fill(0, 1, 41);
    footer.set(handles, 1);
    return Uint8Array.from([
      ...table.subarray(0, metaOffset),
      ...sealed(dictionary),
      ...sealed(Uint8Array.from(metaindex)),
      ...footer,
    ]);
  }

  /** Payload, type byte 0, crc32c. */
  function sealed(payload: Uint8Array): Uint8Array {
    const block = new Uint8Array(payload.length + 5);
    block.set(payload);
    const checksum = computeBlockChecksum(twinHashFunctions(), ChecksumType.crc32c, block, 0, payload.length);
    new DataView(block.buffer).setUint32(payload.length + 1, checksum, true);
    return block;
  }

  function varint(value: number): number[] {
    return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
  }

  function varintAt(from: Uint8Array, pos: number): [number, number] {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = from[pos++]!;
      value += (byte & 127) << shift;
      if (byte < 128) return [value, pos];
    }
  }
});

describe('inputs', () => {
  const db = path.join(PROJECT_ROOT, 'test/fixtures/db');
  const basic = fixture('demo/basic.sst').path;

  it('that are no tables', async () => {
    const pebble = Uint8Array.from([
      ...Buffer.alloc(60, 1),
      ...Buffer.from('03000000f09faab3f09faab3', 'hex'),
    ]);
    const cases: [string, number, string][] = [
      [fileOf('text.sst', Buffer.from('not a table\n')), 3, 'a text file'],
      [fileOf('empty.sst', new Uint8Array(0)), 3, 'empty'],
      [fileOf('zeros.sst', new Uint8Array(4096)), 3, 'zeros'],
      [path.join(folder, 'missing.sst'), 3, 'no such file'],
      [fileOf('pebble.sst', pebble), 4, 'Pebble'],
      [path.join(PROJECT_ROOT, 'test/fixtures/make'), 3, 'no table file'],
    ];
    for (const [file, wanted, message] of cases) {
      const { status, stdout, stderr } = await dump(file);
      expect({ file, status, stdout }).toEqual({ file, status: wanted, stdout: '' });
      expect(stderr).toContain(message);
      const { document } = await dumpJson(file);
      if (file !== path.join(PROJECT_ROOT, 'test/fixtures/make')) {
        expect(document.error.message).toContain(message);
      }
    }
  });

  it('of rows that cannot be read', async () => {
    const { status, stderr } = await dump(fixture('cuckoo/cuckoo.sst').path, '--entries');
    expect(status).toBe(4);
    expect(stderr).toContain('cuckoo');
    expect((await dump(fixture('cuckoo/cuckoo.sst').path)).status).toBe(0);
  });

  it('of several files are a list, and one unreadable file does not end it', async () => {
    const text = fileOf('other.sst', Buffer.from('not a table\n'));
    const { status, document, stderr } = await dumpJson(basic, text);
    expect(status).toBe(3);
    expect(document.files.map((file: Document) => [file.path, 'error' in file])).toEqual([
      [basic, false],
      [text, true],
    ]);
    expect(stderr).toContain('a text file');
  });

  it('of a directory are its table files in order', async () => {
    const { status, document, stderr } = await dumpJson(path.join(db, 'mixed'));
    expect(status).toBe(0);
    expect(document.files.map((file: Document) => path.basename(file.path))).toEqual([
      '000012.sst',
      '000015.sst',
      '000016.sst',
      '000018.sst',
      '000019.sst',
    ]);
    expect(stderr).toMatch(/^\d+ other files skipped/);
    expect(document.files[0].path).toBe(path.join(db, 'mixed/000012.sst'));
  });

  it('are told by their content, whatever their name', async () => {
    const { document } = await dumpJson(fileOf('a-table.bin', fixture('demo/basic.sst').bytes()));
    expect(document).toMatchObject({ kind: 'sst', size: 5427 });
  });
});

describe('compatibility', () => {
  const nothing = {
    format: 'block-based',
    formatVersion: 5,
    checksumType: ChecksumType.crc32c,
    indexType: 0,
    filterKind: undefined,
    filterPartitions: 0,
    compressionTypes: new Set<number>(),
    usesDictionary: false,
    rangeTombstones: 0,
    properties: undefined,
    entryTypes: new Set([1]),
    entityVersions: new Set<number>(),
    hashIndexInBlocks: false,
    separatedKeys: false,
    uniformKeys: false,
    timestampSize: 0,
  } as const;

  it.each([
    [{}, '6.6', null],
    [{ formatVersion: 2 }, '3.10', null],
    [{ formatVersion: 7 }, '10.4', null],
    [{ formatVersion: 1 }, '3.0', '11.0'],
    [{ formatVersion: 2, filterKind: 'ribbon' as const }, '6.15', null],
    [{ checksumType: ChecksumType.xxh3 }, '6.27', null],
    [{ separatedKeys: true }, '11.0', null],
    [{ uniformKeys: true }, '11.1', null],
    [{ entityVersions: new Set([2]) }, '11.2', null],
    [{ compressionTypes: new Set([0x40]) }, '6.6', '9.11'],
    [{ formatVersion: 0, format: 'leveldb' as const }, '1.5', '11.0'],
  ])('%j', (facts, first, before) => {
    expect(compatibilityOf({ ...nothing, ...facts })).toMatchObject({ first, before });
  });

  it('with LevelDB', () => {
    const old = { ...nothing, formatVersion: 0 };
    expect(compatibilityOf(nothing).leveldb).toBe(false);
    expect(compatibilityOf(old).leveldb).toBe(true);
    expect(compatibilityOf({ ...old, rangeTombstones: 1 }).leveldb).toBe(false);
    expect(compatibilityOf({ ...old, compressionTypes: new Set([7]) }).leveldb).toBe(false);
    expect(compatibilityOf({ ...old, entryTypes: new Set([2]) }).leveldb).toBe(false);
  });

  it('compares releases by number', () => {
    expect(['6.27', '11.0', '6.3', '5.18'].sort(compareReleases)).toEqual(['5.18', '6.3', '6.27', '11.0']);
  });

  it('names the feature that keeps older releases out', async () => {
    const { document } = await dumpJson(fixture('filter/ribbon-fv2.sst').path);
    expect(document.compatibility.rocksdb.first).toBe('6.27');
    expect(document.compatibility.requirements.map((each: Document) => each.feature)).toContain(
      'filter_ribbon',
    );
  });
});

describe('a footer handle that points beyond the file', () => {
  it('is damage, and nothing is allocated for it', async () => {
    const bytes = fixture('version/fv2-crc32c.sst').bytes();
    const huge = Uint8Array.from([0xff, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0x7f]);
    const file = fileOf('handle.sst', overwrite(bytes, bytes.length - 52, huge));
    const { status, document } = await dumpJson(file);
    expect(status).toBe(1);
    expect(document.blocks.data.count).toBeGreaterThan(0);
  });
});

function hex(text: string): string {
  return Buffer.from(text).toString('hex');
}
