/** WALs for tests: batches by hand, and every real one. */

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { ByteWriter } from '../../src/bytes/byte-writer.ts';
import { LogWriter, type LogWriterOptions } from '../../src/format/log/log-writer.ts';
import { WriteBatchWriter } from '../../src/format/wal/encode-write-batch.ts';
import { twinHashFunctions } from '../../src/hash/hash-functions.ts';
import { databases, sharedFixtures } from './fixtures.ts';

/** A batch with this sequence number. */
export function batchOf(seqno: number, write: (batch: WriteBatchWriter) => void): Uint8Array {
  const writer = new WriteBatchWriter();
  write(writer);
  return writer.finish(BigInt(seqno)).slice();
}

/** A log whose records `write` adds. */
export function logOf(options: LogWriterOptions, write: (log: LogWriter) => void): Uint8Array {
  const out = new ByteWriter();
  write(new LogWriter(out, twinHashFunctions(), options));
  return out.copy();
}

/** A log of these batches. */
export function walOf(...batches: Uint8Array[]): Uint8Array {
  return logOf({}, (log) => {
    for (const batch of batches) log.add(batch);
  });
}

/** A zstd frame of one raw block, of 128 KiB at most, which does not say its length: as compressed WALs have them. */
export function rawZstdFrame(payload: Uint8Array): Uint8Array {
  const out = new ByteWriter();
  out.fixed32(0xfd2fb528);
  // No content size, no checksum; a window of 128 KiB.
  for (const byte of [0, 0x38]) out.byte(byte);
  const header = 1 | (payload.length << 3);
  for (const shift of [0, 8, 16]) out.byte((header >>> shift) & 0xff);
  out.append(payload);
  return out.copy();
}

export interface RealWal {
  /** `database/000010.log`: also the name of a test. */
  readonly name: string;
  readonly path: string;
  /** What ldb's dump_wal prints of it, a gzip file; undefined where there is none. */
  readonly expected: string | undefined;
}

/** Those of all databases that hold a batch. */
export function realWals(): RealWal[] {
  const shared = sharedFixtures().databases.map(({ name, path: folder, expectedPath }) => ({
    name,
    folder,
    expectedPath,
  }));
  const own = databases().map(({ name, path: folder }) => ({
    name: `own/${name}`,
    folder,
    expectedPath: '',
  }));
  return [...own, ...shared].flatMap(({ name, folder, expectedPath }) =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.name.endsWith('.log'))
      .map((entry) => {
        const expected = path.join(expectedPath, `${entry.name}.txt.gz`);
        return {
          name: `${name}/${entry.name}`,
          path: path.join(folder, entry.name),
          expected: expectedPath !== '' && existsSync(expected) ? expected : undefined,
        };
      }),
  );
}
