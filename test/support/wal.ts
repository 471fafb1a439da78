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
