/**
 * Question: how fast does each codec decode RocksDB's blocks?
 * Data: all data blocks of db_bench's tables of 100,000 entries (values of 100 bytes that shrink to half), in blocks
 * of 4 KiB and 32 KiB, one table a compression.
 * Warm-up: 0.3 s of passes over all blocks; then the median of five rounds of 0.2 s or one pass, in this process.
 * Unit: MB (1e6 bytes) of uncompressed blocks a second, and microseconds a block. `one by one` decodes each block by
 * itself; `in batches` takes the way of scan and verify, 64 blocks at once (zstd: one call on the thread pool at a
 * time, where scan and verify have several under way).
 */

import { timeCalls } from './measure.mjs';
import { markdownTable, mb, times } from './report.mjs';
import { importSources } from './source.mjs';

export const QUESTION = 'Codecs: decoding data blocks of 4 KiB and 32 KiB.';

const ENTRIES = 100_000;
const BATCH_BLOCKS = 64;
const COMPRESSIONS = ['snappy', 'lz4', 'lz4hc', 'zlib', 'bzip2', 'zstd'];

export async function run(context) {
  const sources = await importSources(
    'codec/decompress.ts',
    'codec/batch.ts',
    'codec/resolve-codec.ts',
    'errors.ts',
    'format/index/data-blocks.ts',
    'format/table-reader.ts',
    'node/environment.ts',
    'node/file-source.ts',
  );
  const rows = [];
  for (const compression of COMPRESSIONS) {
    for (const blockBytes of [4096, 32 * 1024]) {
      const table = context.data.table({ compression, blockBytes, entries: ENTRIES });
      rows.push(await codecRow(context, sources, table));
    }
  }
  context.say(
    markdownTable(
      ['codec, block', 'by', 'blocks', 'one by one MB/s', 'us a block', 'in batches MB/s', 'us a block'],
      rows,
    ),
  );
}

async function codecRow(context, sources, table) {
  const environment = await sources.openNodeEnvironment();
  const source = sources.openFileSource(table.file);
  try {
    const { blocks, stored } = await loadBlocks(sources, environment, source);
    const length = await decodedLength(sources, blocks, stored, environment);
    const oneByOneMs = await timeCalls(() => decodeOneByOne(sources, blocks, stored), {
      rounds: context.rounds,
    });
    const batchesMs = await timeCalls(() => decodeInBatches(sources, blocks, stored, environment), {
      rounds: context.rounds,
    });
    const rate = (passMs) => [mb(length / 1e3 / passMs), times((passMs * 1e3) / stored.count)];
    const { codec } = sources.locatePayload(
      blocks,
      stored.types[0],
      stored.bytes,
      0,
      stored.ends[0],
    ).resolved;
    return [
      `${table.compression}, ${table.blockBytes / 1024} KiB`,
      environment.codecs.decoder(codec).implementation,
      String(stored.count),
      ...rate(oneByOneMs),
      ...rate(batchesMs),
    ];
  } finally {
    source.close();
  }
}

/** All data blocks in memory; those that RocksDB left uncompressed are left out. */
async function loadBlocks(sources, environment, source) {
  const table = await sources.withPending(() => sources.openTable(source, environment));
  const list = await sources.listDataBlocks(table);
  const stored = { bytes: new Uint8Array(0), count: 0, types: [], starts: [], ends: [] };
  const pieces = [];
  let length = 0;
  for (let i = 0; i < list.count; i++) {
    const piece = source.read(list.offsets[i], list.sizes[i] + 1);
    const type = piece[list.sizes[i]];
    if (type === 0) continue;
    pieces.push(piece);
    stored.types.push(type);
    stored.starts.push(length);
    stored.ends.push(length + list.sizes[i]);
    length += piece.length;
  }
  stored.bytes = new Uint8Array(Buffer.concat(pieces));
  stored.count = pieces.length;
  return { blocks: table.blocks.decompression, stored };
}

/** Also loads the codec, and checks that both ways give the same number of bytes. */
async function decodedLength(sources, blocks, stored, environment) {
  const inBatches = await decodeInBatches(sources, blocks, stored, environment);
  const oneByOne = await sources.withPending(() => {
    let length = 0;
    for (let i = 0; i < stored.count; i++) length += decode(sources, blocks, stored, i).length;
    return length;
  });
  if (inBatches !== oneByOne) throw new Error(`batches decode to ${inBatches} bytes, blocks to ${oneByOne}`);
  return oneByOne;
}

function decode({ decompressBlock }, blocks, { types, bytes, starts, ends }, i) {
  return decompressBlock(blocks, types[i], bytes, starts[i], ends[i], undefined);
}

function decodeOneByOne(sources, blocks, stored) {
  for (let i = 0; i < stored.count; i++) decode(sources, blocks, stored, i);
}

async function decodeInBatches(sources, blocks, stored, environment) {
  let length = 0;
  for (let first = 0; first < stored.count; first += BATCH_BLOCKS) {
    const end = Math.min(stored.count, first + BATCH_BLOCKS);
    const batch = {
      bytes: stored.bytes,
      count: end - first,
      types: stored.types.slice(first, end),
      starts: stored.starts.slice(first, end),
      ends: stored.ends.slice(first, end),
    };
    const result = await sources.decompressBatch(blocks, batch, undefined, environment.decodeZstdFrames);
    for (let i = 0; i < batch.count; i++) {
      if (result.errors[i] !== undefined) throw result.errors[i];
      length += result.ends[i] - result.starts[i];
    }
  }
  return length;
}
