/**
 * Question: how fast are the hashes, by kernel or package and by their plain TypeScript twins?
 * Data: pseudo-random bytes (4 MiB, in the processor's cache) in blocks of 4 KiB, 32 KiB and 1 MiB; keys of 16 bytes.
 * Warm-up: 0.3 s of calls; then the median of five rounds of 0.2 s. The results of both are compared first.
 * Unit: MB (1e6 bytes) a second; keys in nanoseconds each.
 */

import { timeCalls } from './measure.mjs';
import { markdownTable, mb, times } from './report.mjs';
import { importSources } from './source.mjs';

export const QUESTION = 'Hashes: kernels and packages against their twins in plain TypeScript.';

const BLOCK_BYTES = [4096, 32 * 1024, 1024 * 1024];
const BUFFER_BYTES = 4 * 1024 * 1024;
const KEY_BYTES = 16;
const KEYS = 1024;

export async function run(context) {
  const { kernelHashFunctions, twinHashFunctions, twinKeyHash, openKernels } = await importSources(
    'hash/hash-functions.ts',
    'hash/key-hash.ts',
    'kernels/open-kernels.ts',
  );
  const { default: openXxhash } = await import('xxhash-wasm');
  const kernels = await openKernels();
  const fast = kernelHashFunctions(kernels, await openXxhash());
  const twin = twinHashFunctions();
  const bytes = pseudoRandomBytes(BUFFER_BYTES);

  const rows = [];
  for (const name of ['crc32c', 'xxh32', 'xxh64Low', 'xxh3Low']) {
    for (const blockBytes of BLOCK_BYTES) {
      if (fast[name](bytes, 1, blockBytes) !== twin[name](bytes, 1, blockBytes)) {
        throw new Error(`${name}: the twin gives another hash`);
      }
      const fastRate = await blockRate(context, fast[name], bytes, blockBytes);
      const twinRate = await blockRate(context, twin[name], bytes, blockBytes);
      const label = name.replace('Low', '');
      rows.push([
        `${label}, ${blockBytes / 1024} KiB`,
        fast.implementations[label],
        mb(fastRate),
        mb(twinRate),
        times(fastRate / twinRate),
      ]);
    }
  }
  context.say(markdownTable(['hash, block', 'by', 'MB/s', 'twin MB/s', 'times'], rows));

  const fastNs = await keyNanoseconds(context, kernels, bytes);
  const twinNs = await keyNanoseconds(context, twinKeyHash(), bytes);
  context.say(
    `\nKeys of ${KEY_BYTES} bytes for filters (xxph3, ${KEYS} at once): ${times(fastNs)} ns a key, ` +
      `twin ${times(twinNs)}.`,
  );
}

/** MB/s over the whole buffer, block by block. */
async function blockRate(context, hash, bytes, blockBytes) {
  let sink = 0;
  const passMs = await timeCalls(
    () => {
      for (let start = 0; start < bytes.length; start += blockBytes) {
        sink ^= hash(bytes, start, start + blockBytes);
      }
    },
    { rounds: context.rounds },
  );
  if (Number.isNaN(sink)) throw new Error('the hash is no number');
  return bytes.length / 1e3 / passMs;
}

async function keyNanoseconds(context, keyHash, bytes) {
  const offsets = Uint32Array.from({ length: KEYS + 1 }, (_, i) => i * KEY_BYTES);
  const out = new Uint32Array(2 * KEYS);
  const passMs = await timeCalls(() => keyHash.xxph3Batch(bytes, offsets, KEYS, out), {
    rounds: context.rounds,
  });
  return (passMs * 1e6) / KEYS;
}

/** Xorshift32: the same bytes on every machine. */
function pseudoRandomBytes(length) {
  const words = new Uint32Array(length / 4);
  let x = 0x9e3779b9;
  for (let i = 0; i < words.length; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    words[i] = x;
  }
  return new Uint8Array(words.buffer);
}
