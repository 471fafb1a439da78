/** The tables of test/fixtures/flip, and what is done to them: every bit flipped, cut at every length. */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ByteReader } from '../../src/bytes/byte-reader.ts';
import { decodeBlockHandle } from '../../src/format/block-handle.ts';
import type { TableReader } from '../../src/format/table-reader.ts';
import type { NodeEnvironment } from '../../src/node/environment.ts';
import type { FileReport } from '../../src/tools/verify/verify-options.ts';
import { PROJECT_ROOT } from '../support/cli.ts';
import { SeededRandom } from '../support/random.ts';
import { verifyBytes } from './table-surgery.ts';

const FOLDER = path.join(PROJECT_ROOT, 'test/fixtures/flip');

export const FLIP_FILES = readdirSync(FOLDER).sort();

/** One for each format version: of these every bit is flipped. */
export const EXHAUSTIVE = [
  'fv0-crc32c.sst',
  'fv1-zlib.sst',
  'fv2-lz4-xxhash.sst',
  'fv3-xxhash64.sst',
  'fv4-legacy-bloom.sst',
  'fv5-lz4-dict.sst',
  'fv6-xxh3-bloom-rangedel.sst',
  'fv7-zstd.sst',
];

/** Of the others some bits, and all of them from this scale on. */
const SCALE = Number(process.env.SSTKIT_TEST_SCALE ?? 1);
const EXHAUSTIVE_SCALE = 10;
const SAMPLED_FLIPS = 300;
const SAMPLED_LENGTHS = 60;

/** The search for flipped bits has tests of its own, and would try a thousand checksums a flip here. */
const OPTIONS = { shapeBudgetBytes: 0 };

export const SEED = Number(process.env.SSTKIT_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));

export function readFlipFile(file: string): Uint8Array {
  return new Uint8Array(readFileSync(path.join(FOLDER, file)));
}

/** Numbers below `count`: all of them, or a sample. */
function choose(count: number, sampled: number, all: boolean): number[] {
  if (all || SCALE >= EXHAUSTIVE_SCALE || sampled * SCALE >= count)
    return Array.from({ length: count }, (_, i) => i);
  const random = new SeededRandom(SEED);
  return Array.from({ length: Math.round(sampled * SCALE) }, () => random.below(count));
}

/** Each of these reports holds errors, and nobody looks at where they were made. */
async function withoutStacks(run: () => Promise<void>): Promise<void> {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    await run();
  } finally {
    Error.stackTraceLimit = before;
  }
}

export async function flipBits(
  environment: NodeEnvironment,
  bytes: Uint8Array,
  all: boolean,
  check: (report: FileReport, byte: number, bit: number) => void,
): Promise<void> {
  const damaged = bytes.slice();
  await withoutStacks(async () => {
    for (const position of choose(8 * bytes.length, SAMPLED_FLIPS, all)) {
      const byte = position >>> 3;
      const bit = position & 7;
      damaged[byte]! ^= 1 << bit;
      check(await verifyBytes(environment, damaged, OPTIONS), byte, bit);
      damaged[byte]! ^= 1 << bit;
    }
  });
}

export async function cutEverywhere(
  environment: NodeEnvironment,
  bytes: Uint8Array,
  all: boolean,
  check: (report: FileReport, length: number) => void,
): Promise<void> {
  await withoutStacks(async () => {
    for (const length of choose(bytes.length, SAMPLED_LENGTHS, all)) {
      check(await verifyBytes(environment, bytes.slice(0, length), OPTIONS), length);
    }
  });
}

/**
 * Bits (eight times the byte, plus the bit) that change nothing that a reader uses: in a footer before
 * format_version 6 the zeros behind the handles, and the highest bit of the last handle's last byte, which with the
 * zero behind it makes a longer varint of the same value. Where the properties do not repeat the format version
 * (RocksDB 7.8 writes 0 there), those of its bits that make another version from 1 to 5: the readers of these
 * differ in compressed blocks and in filters alone, and go by what the file says in everything else.
 */
export function unusedFooterBits(bytes: Uint8Array, { footer, properties }: TableReader): Set<number> {
  const { formatVersion, offset } = footer;
  const unused = new Set<number>();
  if (formatVersion >= 6) return unused;
  if (formatVersion > 0 && properties?.count('rocksdb.format.version') === 0) {
    for (let bit = 0; bit < 3; bit++) {
      const other = formatVersion ^ (1 << bit);
      if (other >= 1 && other <= 5) unused.add(8 * (offset + 41) + bit);
    }
  }
  const reader = new ByteReader(bytes, 'footer_handle', offset + (formatVersion === 0 ? 0 : 1));
  decodeBlockHandle(reader);
  decodeBlockHandle(reader);
  unused.add(8 * (reader.pos - 1) + 7);
  const end = offset + (formatVersion === 0 ? 40 : 41);
  for (let bit = 8 * reader.pos; bit < 8 * end; bit++) unused.add(bit);
  return unused;
}
