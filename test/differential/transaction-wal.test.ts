/**
 * Logs that librocksdb 7.8.3 writes under transactions, of each write policy and from several threads: what ldb prints
 * of them, and sequence numbers without a gap, until a batch is taken out.
 */

import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memorySource } from '../../src/bytes/source.ts';
import { LogReader } from '../../src/format/log/log-reader.ts';
import { decodeWriteBatch } from '../../src/format/wal/decode-write-batch.ts';
import { twinHashFunctions } from '../../src/hash/hash-functions.ts';
import { ldbLines, recordLines } from '../support/ldb-wal.ts';
import { buildGenerator, canBuildGenerators } from '../support/librocksdb.ts';
import { findingsIn, readEdits } from '../support/manifest.ts';
import { runTool } from '../support/oracles.ts';
import { makeRamFolder } from '../support/ram-folder.ts';
import { SeededRandom } from '../support/random.ts';
import { walOf } from '../support/wal.ts';

const GENERATOR = new URL('./make-wal.cc', import.meta.url);
const available = canBuildGenerators("logs of librocksdb 7.8.3's transactions");

const SEED = 41;

/** The log without one batch whose operations took numbers, neither the first nor the last. */
function withoutBatch(log: Uint8Array, random: SeededRandom): Uint8Array {
  const reader = new LogReader(memorySource(log), twinHashFunctions(), (fault) => {
    throw fault;
  });
  const batches: Uint8Array[] = [];
  const numbered: number[] = [];
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    const { operations } = decodeWriteBatch(record.payload);
    if (operations.some(({ seqno }) => seqno !== undefined)) numbered.push(batches.length);
    batches.push(record.payload.slice());
  }
  batches.splice(random.pick(numbered.slice(1, -1)), 1);
  return walOf(...batches);
}

describe.skipIf(!available)(`logs of transactions, seed ${SEED}`, () => {
  let root: string;
  let program: string;
  beforeAll(() => {
    root = makeRamFolder('sstkit-make-wal-');
    program = path.join(root, 'make-wal');
    buildGenerator(GENERATOR, program);
  }, 60_000);
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const logsOf = (folder: string): string[] =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.log'))
      .map((name) => path.join(folder, name));

  describe.each([
    'committed',
    'committed two_queues',
    'committed zstd',
    'committed recycle',
    'committed recycle track',
    'committed two_queues recycle zstd',
    'prepared',
    'prepared two_queues',
    'prepared unordered recycle',
    'unprepared',
  ])('%s', (options) => {
    let folder: string;
    beforeAll(() => {
      folder = path.join(root, options.replaceAll(' ', '-'));
      execFileSync(program, [folder, ...options.split(' ')]);
    }, 60_000);

    it('is whole, without a gap', async () => {
      expect(await findingsIn(folder)).toEqual([]);
    });

    it('holds what ldb prints', async () => {
      for (const wal of logsOf(folder)) {
        const { lines, faults, headerSize } = await ldbLines(wal);
        expect(faults).toEqual([]);
        const { status, stdout } = runTool('ldb', [
          'dump_wal',
          `--walfile=${wal}`,
          '--header',
          '--print_value',
          `--write_committed=${options.startsWith('committed')}`,
        ]);
        expect(status).toBe(0);
        expect(lines).toEqual(recordLines(stdout, headerSize));
      }
    });
  });

  it('a batch that is taken out leaves a gap', async () => {
    const random = new SeededRandom(SEED);
    for (const options of ['committed', 'committed-two_queues']) {
      const [wal] = logsOf(path.join(root, options));
      const log = new Uint8Array(readFileSync(wal!));
      for (let round = 0; round < 5; round++) {
        const folder = path.join(root, `gap-${options}-${round}`);
        cpSync(path.join(root, options), folder, { recursive: true });
        writeFileSync(logsOf(folder)[0]!, withoutBatch(log, random));
        expect(await findingsIn(folder)).toEqual([`${path.basename(wal!)}: warning wal_sequence_gap`]);
      }
    }
  });

  it('a tracked log that is cut below its synced size is damage', async () => {
    const source = path.join(root, 'committed-recycle-track');
    const synced = readEdits(source)
      .flatMap(({ walAdditions }) => walAdditions ?? [])
      .filter(({ syncedSize }) => syncedSize !== undefined);
    expect(synced.length).toBeGreaterThan(0);
    const { number, syncedSize } = synced.at(-1)!;
    const folder = path.join(root, 'cut');
    cpSync(source, folder, { recursive: true });
    const name = `${String(number).padStart(6, '0')}.log`;
    truncateSync(path.join(folder, name), syncedSize! - 1);
    expect(await findingsIn(folder)).toContain('MANIFEST-000005: damage manifest_size');
    rmSync(path.join(folder, name));
    expect(await findingsIn(folder)).toEqual(['MANIFEST-000005: damage manifest_missing']);
  });
});
