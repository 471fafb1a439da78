/** The library as others use it: through src/index.ts and src/node/index.ts alone. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { inflateRawSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as api from '../src/index.ts';
import * as nodeApi from '../src/node/index.ts';
import { PROJECT_ROOT } from './support/cli.ts';
import { type ExpectedEntry, fixture } from './support/fixtures.ts';
import { flipBit } from './support/patch.ts';

const EXPORTS = [
  'BLOCK_TRAILER_SIZE',
  'BlockCache',
  'BlockIterator',
  'BlockList',
  'ByteReader',
  'COMPARATOR_NAMES',
  'CacheFullError',
  'ChecksumType',
  'CodecPending',
  'CompressionType',
  'CorruptionError',
  'CountingSource',
  'EditTag',
  'FOOTER_SIZE',
  'IndexBlockIterator',
  'IndexType',
  'InvalidArgumentError',
  'IoError',
  'LEGACY_FOOTER_SIZE',
  'LogReader',
  'LookupTable',
  'MAX_FORMAT_VERSION',
  'ManifestState',
  'PEBBLE_MAGIC',
  'Pending',
  'RangeCache',
  'RangeMissing',
  'SstError',
  'Statistics',
  'TICKER_NAMES',
  'TRAILER_SIZE',
  'TableCache',
  'TableMagic',
  'TableSet',
  'UNKNOWN_UINT64',
  'UnsupportedError',
  'ValueType',
  'WalReader',
  'WriteBatchReader',
  'WriteBatchWriter',
  'bufferChecksum',
  'bytewiseComparator',
  'cappedPrefix',
  'checksumName',
  'comparatorByName',
  'compareTrailers',
  'compressionName',
  'computeBlockChecksum',
  'contextModifier',
  'decodeBlobIndex',
  'decodeBlockHandle',
  'decodeBlockLayout',
  'decodeCurrent',
  'decodeFooter',
  'decodeMetaindex',
  'decodePredecessorWal',
  'decodePreferredSeqno',
  'decodeProperties',
  'decodeRangeDelBlock',
  'decodeSeqnoTimeMap',
  'decodeTimestampSizes',
  'decodeVersionEdit',
  'decodeWideColumns',
  'decodeWriteBatch',
  'decompressBlock',
  'detectFileKind',
  'effectiveSeqnoText',
  'entryTypeName',
  'findEarlierFooter',
  'fixedPrefix',
  'formatFileName',
  'indexTypeName',
  'isMaxSeqno',
  'isPointType',
  'kernelHashFunctions',
  'levelsOf',
  'listDataBlocks',
  'memorySource',
  'mergeOperatorByName',
  'noopPrefix',
  'openCuckooTable',
  'openKernels',
  'openPlainTable',
  'openTable',
  'openTableAt',
  'parseFileName',
  'prefixExtractorByName',
  'propertyJsonName',
  'readFooter',
  'readManifest',
  'readPoint',
  'recoverTable',
  'reverseBytewiseComparator',
  'seqnoText',
  'tableFormatOf',
  'trailerSeqno',
  'trailerType',
  'twinHashFunctions',
  'twinKeyHash',
  'userKeyEnd',
  'visitBlocks',
  'withPending',
  'withRanges',
];

const NODE_EXPORTS = [
  'NodeCodecRegistry',
  'createZstdFramesDecoder',
  'describeEnvironment',
  'nodeFileSystem',
  'openFileSource',
  'openNodeEnvironment',
];

describe('the exports', () => {
  it('of sstkit', () => {
    expect(Object.keys(api).sort()).toEqual(EXPORTS);
  });

  it('of sstkit/node', () => {
    expect(Object.keys(nodeApi).sort()).toEqual(NODE_EXPORTS);
  });
});

/** Raw deflate alone, as an application might hand it in; counts what is asked of it. */
class ZlibRegistry implements api.CodecRegistry {
  loads = 0;
  decodes = 0;
  private loaded = false;

  decoder(name: api.CodecName): api.Decoder {
    if (name !== 'deflate_raw') throw new api.UnsupportedError('codec', name, `no ${name} here`);
    if (!this.loaded) throw new api.CodecPending(this, name);
    return {
      implementation: 'test',
      decode: (input, start, end, _length, maxLength) => {
        this.decodes++;
        const decoded = inflateRawSync(input.subarray(start, end), { maxOutputLength: maxLength });
        return new Uint8Array(decoded.buffer, decoded.byteOffset, decoded.length);
      },
    };
  }

  load(): Promise<void> {
    this.loads++;
    this.loaded = true;
    return Promise.resolve();
  }
}

const twins = (): { hashes: api.HashFunctions; codecs: ZlibRegistry } => ({
  hashes: api.twinHashFunctions(),
  codecs: new ZlibRegistry(),
});

/** The point entries of a table, by the public API. */
async function readEntries(table: api.TableReader): Promise<ExpectedEntry[]> {
  const entries: ExpectedEntry[] = [];
  const block = new api.BlockIterator();
  const dictionary = await api.withPending(() => table.readDictionary());
  await api.visitBlocks(
    table.blocks,
    await api.listDataBlocks(table),
    { blockType: 'data', dictionary },
    (loaded) => {
      if (loaded.error !== undefined) throw loaded.error;
      block.reset(loaded.contents);
      while (block.next()) entries.push(entryOf(block, table));
      return true;
    },
  );
  return entries;
}

function entryOf(entry: api.EntrySource, shape: api.EntryShape): ExpectedEntry {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  return {
    key: hex(entry.key.subarray(0, api.userKeyEnd(entry, shape))),
    seqno: api.effectiveSeqnoText(entry, shape),
    type: api.entryTypeName(api.trailerType(entry.key, entry.keyLength)),
    value: hex(entry.data.subarray(entry.valueStart, entry.valueEnd)),
  };
}

describe('a table in memory', () => {
  const file = fixture('compression/zlib-fv5.sst');

  it('is read with a codec that was handed in', async () => {
    const environment = twins();
    const source = api.memorySource(file.bytes(), 'zlib.sst');
    expect(api.detectFileKind(source, environment.hashes)).toEqual({
      kind: 'sst',
      detail: { tableFormat: 'block-based' },
    });
    const table = await api.withPending(() => api.openTable(source, environment));
    expect(table.problems).toEqual([]);
    expect(table.footer).toMatchObject({ format: 'block-based', formatVersion: 5 });
    expect(table.comparator).toBe(api.bytewiseComparator);
    const wanted = file.expected!();
    expect(table.properties?.get('rocksdb.num.entries')).toBe(
      wanted.entries.length + wanted.rangeTombstones.length,
    );
    expect(await readEntries(table)).toEqual(wanted.entries);
    expect(
      table.readRangeTombstones().map(({ startKey, end }) => [startKey.length > 8, end.length > 0]),
    ).toEqual(wanted.rangeTombstones.map(() => [true, true]));
    expect(environment.codecs.loads).toBe(1);
    expect(environment.codecs.decodes).toBeGreaterThan(0);
  });

  it('says which codec is missing, and of which block', async () => {
    const other = fixture('compression/lz4-fv5.sst');
    const table = await api.withPending(() =>
      api.openTable(api.memorySource(other.bytes(), 'lz4.sst'), twins()),
    );
    await expect(readEntries(table)).rejects.toMatchObject({
      code: 'unsupported',
      feature: 'codec',
      value: 'lz4',
    });
  });

  it('gives damage as values, with its place', async () => {
    const table = await api.withPending(() =>
      api.openTable(api.memorySource(flipBit(file.bytes(), 20), 'damaged.sst'), twins()),
    );
    const blocks = await api.listDataBlocks(table);
    const faults: (api.SstError | undefined)[] = [];
    await api.visitBlocks(table.blocks, blocks, { blockType: 'data' }, ({ error }) => {
      faults.push(error);
      return true;
    });
    expect(faults[0]).toBeInstanceOf(api.CorruptionError);
    expect(faults[0]).toMatchObject({
      code: 'block_checksum',
      file: 'damaged.sst',
      offset: 0,
      blockType: 'data',
    });
    expect(faults.slice(1).every((fault) => fault === undefined)).toBe(true);
  });

  it('throws for a footer that cannot be read', () => {
    const bytes = file.bytes();
    const short = api.memorySource(bytes.subarray(0, bytes.length - 1), 'short.sst');
    expect(() => api.openTable(short, twins())).toThrow(api.CorruptionError);
  });
});

/** A source that answers later, and counts. */
class RemoteSource implements api.AsyncByteSource {
  readonly name = 'https://example.org/000012.sst';
  reads: [offset: number, length: number][] = [];

  constructor(private readonly bytes: Uint8Array) {}

  get size(): number {
    return this.bytes.length;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    await new Promise((resolve) => setImmediate(resolve));
    this.reads.push([offset, length]);
    return this.bytes.slice(offset, offset + length);
  }
}

describe('a table behind an asynchronous source', () => {
  const file = fixture('compression/zlib-fv5.sst');

  it('is opened with three reads, and read with one a batch of blocks', async () => {
    const remote = new RemoteSource(file.bytes());
    const cache = new api.RangeCache(remote);
    const environment = twins();
    const table = await api.withRanges(cache, (source) => api.openTable(source, environment));
    // Footer, metaindex, properties.
    expect(remote.reads).toEqual([
      [remote.size - api.FOOTER_SIZE, api.FOOTER_SIZE],
      [table.footer.metaindex.offset, table.footer.metaindex.size + api.BLOCK_TRAILER_SIZE],
      [expect.any(Number), expect.any(Number)],
    ]);
    const blocks = await api.listDataBlocks(table);
    expect(remote.reads.length).toBe(4);
    const wanted = file.expected!();
    expect(await readEntries(table)).toEqual(wanted.entries);
    // All data blocks lie side by side; the index was here already.
    expect(blocks.count).toBeGreaterThan(1);
    expect(remote.reads.length).toBe(5);
    const tombstones = await api.withRanges(cache, () => table.readRangeTombstones());
    expect(tombstones.length).toBe(wanted.rangeTombstones.length);
    expect(remote.reads.length).toBe(6);
    // Nothing is fetched twice.
    expect(await readEntries(table)).toEqual(wanted.entries);
    expect(remote.reads.length).toBe(6);
  });

  it('works with the smallest cache', async () => {
    const remote = new RemoteSource(file.bytes());
    const cache = new api.RangeCache(remote, 1);
    const environment = twins();
    const table = await api.withRanges(cache, (source) => api.openTable(source, environment));
    expect(await readEntries(table)).toEqual(file.expected!().entries);
  });

  it('can be a plain table', async () => {
    const plain = fixture('plain/prefix-variable.sst');
    const remote = new RemoteSource(plain.bytes());
    const cache = new api.RangeCache(remote);
    const table = await api.withRanges(cache, (source) =>
      api.openPlainTable(source, api.readFooter(source, api.twinHashFunctions())),
    );
    const rows = table.rows();
    const entries: ExpectedEntry[] = [];
    while (await api.withRanges(cache, () => rows.next())) {
      entries.push(entryOf(rows, { storedTimestampSize: 0, globalSeqno: undefined }));
    }
    expect(entries).toEqual(plain.expected!().entries);
  });

  it('passes on what the source throws', async () => {
    const broken: api.AsyncByteSource = {
      name: 'gone',
      size: 4096,
      read: () => Promise.reject(new api.IoError('io_error', 'gone', 'status 503')),
    };
    await expect(
      api.withRanges(new api.RangeCache(broken), (source) => api.openTable(source, twins())),
    ).rejects.toThrow('gone: status 503');
  });
});

describe('the edge to Node', () => {
  it('reads a compressed file', async () => {
    const file = fixture('modern/fv7-zstd.sst');
    const environment = await nodeApi.openNodeEnvironment();
    const source = nodeApi.openFileSource(file.path);
    try {
      const table = await api.withPending(() => api.openTable(source, environment));
      expect(await readEntries(table)).toEqual(file.expected!().entries);
    } finally {
      source.close();
    }
  });

  it('takes the parts that it is given', async () => {
    const { hashes, codecs } = twins();
    const environment = await nodeApi.openNodeEnvironment({ hashes, codecs });
    expect(environment.hashes).toBe(hashes);
    expect(environment.codecs).toBe(codecs);
  });
});

describe('what is shipped', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'sstkit-api-'));
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(PROJECT_ROOT, path.join(folder, 'node_modules/sstkit'), 'junction');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('the pure part is one file for browsers, without Node and without packages', async () => {
    const outfile = path.join(folder, 'browser.mjs');
    const result = await build({
      entryPoints: [path.join(PROJECT_ROOT, 'src/index.ts')],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'browser',
      metafile: true,
      logLevel: 'silent',
    });
    expect(result.warnings).toEqual([]);
    const inputs = Object.keys(result.metafile.inputs);
    expect(inputs.filter((input) => input.includes('node_modules') || /\bsrc\/node\//.test(input))).toEqual(
      [],
    );
    expect(Object.values(result.metafile.outputs).flatMap(({ imports }) => imports)).toEqual([]);
    const text = readFileSync(outfile, 'utf8');
    expect(text).not.toMatch(/\b(Buffer|process|require)\b[.(]/);
    const bundled = (await import(pathToFileURL(outfile).href)) as typeof api;
    const environment = { hashes: bundled.twinHashFunctions(), codecs: new ZlibRegistry() };
    const file = fixture('demo/leveldb.ldb');
    const table = bundled.openTable(bundled.memorySource(file.bytes()), environment);
    expect(table.problems).toEqual([]);
  });

  it('runs the example of README.md', () => {
    const readme = readFileSync(path.join(PROJECT_ROOT, 'README.md'), 'utf8');
    const [, code] = /```js\n(import [^`]*from 'sstkit';[^`]*)```/.exec(readme)!;
    writeFileSync(path.join(folder, 'example.mjs'), code!);
    const { status, stdout, stderr } = spawnSync(process.execPath, ['example.mjs'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toBe('200');
    expect(lines.filter((line) => line.startsWith('user:')).length).toBeGreaterThan(100);
  });
});
