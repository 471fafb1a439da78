import { describe, expect, test } from 'vitest';
import { SeededRandom, TEST_SCALE } from '../../../test/support/random.ts';
import { memorySource } from '../../bytes/source.ts';
import { toHex } from '../../bytes/text.ts';
import { twinHashFunctions } from '../../hash/hash-functions.ts';
import {
  BLOB_FOOTER_SIZE,
  BLOB_HEADER_SIZE,
  type BlobFileHeader,
  encodeBlobFooter,
  encodeBlobHeader,
  encodeBlobRecord,
} from './blob-file.ts';
import { type BlobFault, BlobFileReader } from './blob-reader.ts';

const hashes = twinHashFunctions();
const HEADER: BlobFileHeader = {
  version: 1,
  columnFamily: 7,
  hasTtl: true,
  compressionType: 7,
  expiration: { from: 5n, to: 2n ** 64n - 1n },
};

interface Blob {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly expiration: bigint;
}

function randomBlobs(random: SeededRandom, count: number, lengthMax = 60): Blob[] {
  return Array.from({ length: count }, () => ({
    key: random.bytes(random.below(20)),
    value: random.bytes(random.below(lengthMax)),
    expiration: BigInt(random.uint32()),
  }));
}

function fileOf(blobs: readonly Blob[], blobCount = blobs.length): Uint8Array {
  const records = blobs.map(({ key, value, expiration }) => encodeBlobRecord(key, value, expiration, hashes));
  const footer = encodeBlobFooter({ blobCount: BigInt(blobCount), expiration: HEADER.expiration }, hashes);
  return new Uint8Array(Buffer.concat([encodeBlobHeader(HEADER), ...records, footer]));
}

/** All that the reader tells: records as they were given, where they hold, and the faults. */
function readAll(bytes: Uint8Array) {
  const faults: BlobFault[] = [];
  const reader = new BlobFileReader(memorySource(bytes, 'x.blob'), hashes, (fault) => faults.push(fault));
  const blobs: Blob[] = [];
  const offsets: number[] = [];
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    const fault = reader.check(record);
    if (fault !== undefined) {
      faults.push(fault);
      continue;
    }
    offsets.push(record.valueOffset);
    const key = reader.key(record).slice();
    blobs.push({ key, value: reader.value(record).slice(), expiration: record.expiration });
  }
  expect(reader.next()).toBeUndefined();
  return { header: reader.header, footer: reader.footer, blobs, offsets, faults };
}

const same = (blobs: readonly Blob[]) =>
  blobs.map(({ key, value, expiration }) => `${toHex(key)} ${toHex(value)} ${expiration}`);

describe('what is written is read', () => {
  test.each(Array.from({ length: 10 * TEST_SCALE }, (_, i) => 1 + i))('seed %i', (seed) => {
    const random = new SeededRandom(seed);
    const blobs = randomBlobs(random, random.below(50));
    const bytes = fileOf(blobs);
    const read = readAll(bytes);
    expect(read.faults).toEqual([]);
    expect(read.header).toEqual(HEADER);
    expect(read.footer).toEqual({ blobCount: BigInt(blobs.length), expiration: HEADER.expiration });
    expect(same(read.blobs)).toEqual(same(blobs));
    for (const [i, offset] of read.offsets.entries()) {
      const { value } = blobs[i]!;
      expect(toHex(bytes.subarray(offset, offset + value.length))).toBe(toHex(value));
    }
  });

  test('values and keys that no window holds', () => {
    const random = new SeededRandom(1);
    const large = {
      key: new Uint8Array(1_100_000).fill(7),
      value: new Uint8Array(2_200_000).fill(9),
      expiration: 0n,
    };
    const blobs = [...randomBlobs(random, 3), large, ...randomBlobs(random, 3)];
    const bytes = fileOf(blobs);
    const read = readAll(bytes);
    expect(read.faults).toEqual([]);
    expect(read.blobs.map(({ key, value }) => [key.length, value.length])).toEqual(
      blobs.map(({ key, value }) => [key.length, value.length]),
    );
    bytes[1_000_000]! ^= 1;
    expect(readAll(bytes).faults.map(({ code }) => code)).toEqual(['blob_record_damaged']);
  });
});

describe('damage', () => {
  const blobs = randomBlobs(new SeededRandom(3), 6, 30);
  const bytes = fileOf(blobs);

  test('each flipped bit is told, but for those of the header, which has no checksum', () => {
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const flipped = bytes.slice();
      flipped[bit >>> 3]! ^= 1 << (bit & 7);
      const { faults, blobs: left } = readAll(flipped);
      expect([bit, faults.length]).toEqual([bit, faults.length === 0 ? 0 : 1]);
      const inHeader = bit >= 64 && bit < 8 * BLOB_HEADER_SIZE;
      expect([bit, faults.length > 0]).toEqual([bit, !inHeader]);
      const inVersion = bit >= 32 && bit < 64;
      const inRecords = bit >= 8 * BLOB_HEADER_SIZE && bit < 8 * (bytes.length - BLOB_FOOTER_SIZE);
      expect([bit, left.length]).toEqual([bit, inVersion ? 0 : blobs.length - (inRecords ? 1 : 0)]);
    }
  });

  test('each length to which it is cut is told, with all whole records', () => {
    for (let length = 1; length < bytes.length; length++) {
      const { faults, blobs: left } = readAll(bytes.slice(0, length));
      expect([length, faults.length]).toEqual([length, 1]);
      expect(faults[0]!.message).toMatch(/^x\.blob: /);
      expect(same(left)).toEqual(same(blobs.slice(0, left.length)));
      if (length >= bytes.length - BLOB_FOOTER_SIZE) expect(left.length).toBe(blobs.length);
    }
  });

  test('a footer that counts other records', () => {
    const { faults } = readAll(fileOf(blobs, 5));
    expect(faults.map(({ message }) => message)).toEqual([
      `x.blob: at ${bytes.length - BLOB_FOOTER_SIZE}: the footer counts 5 records, there are 6`,
    ]);
  });

  test('lengths of 2^64 - 1 with a checksum that holds', () => {
    const record = encodeBlobRecord(blobs[0]!.key, blobs[0]!.value, 0n, hashes);
    const lengths = new Uint8Array(24).fill(0xff);
    record.set(lengths);
    const whole = Buffer.concat([encodeBlobHeader(HEADER), record]);
    const crc = hashes.crc32c(record, 0, 24);
    whole.writeUInt32LE((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0, BLOB_HEADER_SIZE + 24);
    expect(readAll(whole).faults.map(({ code }) => code)).toEqual(['blob_truncated']);
  });
});
