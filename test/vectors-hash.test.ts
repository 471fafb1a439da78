import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import xxhash from 'xxhash-wasm';
import { type U64, u64ToHex } from '../src/bytes/u64.ts';
import {
  bufferChecksum,
  computeBlockChecksum,
  contextModifier,
  storedChecksum,
} from '../src/hash/block-checksum.ts';
import { maskCrc32c, unmaskCrc32c } from '../src/hash/crc32c.ts';
import { kernelHashFunctions, twinHashFunctions } from '../src/hash/hash-functions.ts';
import { type KeyHash, twinKeyHash } from '../src/hash/key-hash.ts';
import { BLOOM_HASH_SEED, legacyHash32, SLICE_HASH_SEED } from '../src/hash/legacy-hash.ts';
import { xxh3, xxh3Wide } from '../src/hash/xxh3.ts';
import { xxh64 } from '../src/hash/xxh64.ts';
import { xxph3 } from '../src/hash/xxph3.ts';
import { openKernels } from '../src/kernels/open-kernels.ts';

/** A subset is part of the project; the full set is used as well where it lies beside the checkout. */
const SETS = [
  { name: 'subset', url: new URL('./fixtures/vectors-hash.json', import.meta.url) },
  { name: 'full set', url: new URL('../../shared/format/vectors.json', import.meta.url) },
].filter(({ name, url }) => name === 'subset' || existsSync(url));

type HashVector = { in: string } & Record<string, string | number>;

interface TrailerVector {
  checksum_type: number;
  payload: string;
  compression_type: number;
  base_context: string;
  offset: string;
  checksum_without_context: string;
  modifier: string;
  trailer: string;
}

interface Vectors {
  groups: {
    hash: { vectors: HashVector[] };
    hash_text: { vectors: HashVector[] };
    block_trailer: { vectors: TrailerVector[] };
    builtin_checksum_whole: { vectors: { checksum_type: number; in: string; out: string }[] };
  };
}

const SEED: U64 = { hi: 0x9e3779b9, lo: 0x7f4a7c15 };

const kernels = await openKernels();
const IMPLEMENTATIONS = {
  twins: { hashes: twinHashFunctions(), keyHash: twinKeyHash() },
  kernels: { hashes: kernelHashFunctions(kernels, await xxhash()), keyHash: kernels },
};

describe.each(SETS)('$name', ({ url }) => {
  const { groups } = JSON.parse(readFileSync(url, 'utf8')) as Vectors;
  const hashVectors = [...groups.hash.vectors, ...groups.hash_text.vectors];

  test('hashes that exist once', () => {
    for (const vector of hashVectors) {
      const bytes = fromHex(vector.in);
      const end = bytes.length;
      const wide = xxh3Wide(bytes, 0, end);
      const seeded = xxh3Wide(bytes, 0, end, SEED);
      expectFields(vector, {
        xxh64: u64ToHex(xxh64(bytes, 0, end)),
        xxh3_64: u64ToHex(xxh3(bytes, 0, end)),
        xxh3_128_hi: u64ToHex(wide.high),
        xxh3_128_lo: u64ToHex(wide.low),
        xxh3_128_seedS_hi: u64ToHex(seeded.high),
        xxh3_128_seedS_lo: u64ToHex(seeded.low),
        xxph3: u64ToHex(xxph3(bytes, 0, end)),
        xxph3_seedS: u64ToHex(xxph3(bytes, 0, end, SEED)),
        hash_seed0: hex32(legacyHash32(bytes, 0, end, 0)),
        bloomhash: hex32(legacyHash32(bytes, 0, end, BLOOM_HASH_SEED)),
        slicehash32: hex32(legacyHash32(bytes, 0, end, SLICE_HASH_SEED)),
      });
    }
  });

  describe.each(Object.entries(IMPLEMENTATIONS))('%s', (_name, { hashes, keyHash }) => {
    test('hash, hash_text', () => {
      for (const vector of hashVectors) {
        const bytes = fromHex(vector.in);
        const end = bytes.length;
        const crc = hashes.crc32c(bytes, 0, end);
        expect(hex32(hashes.xxh64Low(bytes, 0, end))).toBe(String(vector.xxh64).slice(8));
        expect(hex32(hashes.xxh3Low(bytes, 0, end))).toBe(String(vector.xxh3_64).slice(8));
        expect(unmaskCrc32c(maskCrc32c(crc))).toBe(crc);
        expectFields(vector, {
          crc32c: hex32(crc),
          crc32c_masked: hex32(maskCrc32c(crc)),
          xxh32: hex32(hashes.xxh32(bytes, 0, end)),
          xxph3: hashKey(keyHash, bytes),
        });
      }
    });

    test('block_trailer', () => {
      for (const vector of groups.block_trailer.vectors) {
        const payload = fromHex(vector.payload);
        const block = Uint8Array.of(...payload, vector.compression_type);
        const plain = computeBlockChecksum(hashes, vector.checksum_type, block, 0, payload.length);
        const modifier = contextModifier(Number.parseInt(vector.base_context, 16), Number(vector.offset));
        expect(hex32(plain)).toBe(vector.checksum_without_context);
        expect(hex32(modifier)).toBe(vector.modifier);
        const stored = new DataView(fromHex(vector.trailer).buffer).getUint32(1, true);
        expect(hex32(storedChecksum(plain, modifier))).toBe(hex32(stored));
      }
    });

    test('builtin_checksum_whole', () => {
      for (const vector of groups.builtin_checksum_whole.vectors) {
        const bytes = fromHex(vector.in);
        expect(hex32(bufferChecksum(hashes, vector.checksum_type, bytes, 0, bytes.length))).toBe(vector.out);
      }
    });
  });
});

/** A vector has only some of the fields. */
function expectFields(vector: HashVector, computed: Record<string, string>): void {
  const expected = Object.fromEntries(Object.keys(computed).map((name) => [name, vector[name]]));
  const present = Object.fromEntries(
    Object.entries(computed).map(([name, value]) => [name, expected[name] === undefined ? undefined : value]),
  );
  expect({ in: vector.in, ...present }).toEqual({ in: vector.in, ...expected });
}

function hashKey(keyHash: KeyHash, bytes: Uint8Array): string {
  const low = keyHash.xxph3(bytes, 0, bytes.length);
  return hex32(keyHash.high()) + hex32(low);
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) =>
    Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16),
  );
}

function hex32(value: number): string {
  return value.toString(16).padStart(8, '0');
}
