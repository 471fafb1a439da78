/**
 * Table files by db_bench, on a RAM disk where there is one. A file is made once for its parameters and removed at
 * the end, also after an error or Ctrl-C; with `keep` it stays for the next run.
 */

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { realTool } from './tools.mjs';

const RAM_DISK = '/dev/shm';
const KEPT_FOLDER = 'sstkit-bench-kept';

/** Bytes that one entry takes beyond key and value while it waits in db_bench's memtable, as an upper bound. */
const MEMTABLE_ENTRY_BYTES = 64;

const DEFAULTS = {
  /** Entries, keys of 16 bytes in ascending order. */
  entries: 2_000_000,
  valueBytes: 100,
  /** As db_bench names it: none, snappy, zlib, bzip2, lz4, lz4hc, zstd. */
  compression: 'zstd',
  /** What db_bench makes its values shrink to. */
  compressionRatio: 0.5,
  blockBytes: 4096,
  /** On-disk number: 1 crc32c, 4 xxh3. */
  checksum: 4,
};

export function openData({ keep }) {
  const parent = existsSync(RAM_DISK) ? RAM_DISK : tmpdir();
  const folder = keep ? path.join(parent, KEPT_FOLDER) : mkdtempSync(path.join(parent, 'sstkit-bench-'));
  mkdirSync(folder, { recursive: true });
  if (!keep) {
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
    for (const [signal, number] of [
      ['SIGINT', 2],
      ['SIGTERM', 15],
    ]) {
      process.once(signal, () => process.exit(128 + number));
    }
  }
  return new Data(folder, keep);
}

class Data {
  constructor(folder, keep) {
    this.folder = folder;
    this.keep = keep;
  }

  /** A file for output, new each time. */
  output(name) {
    const file = path.join(this.folder, `out-${name}`);
    rmSync(file, { force: true });
    return file;
  }

  /** The table of these parameters, as `{file, bytes, entries, ...}`. Throws without db_bench. */
  table(parameters) {
    const all = { ...DEFAULTS, ...parameters };
    const file = path.join(this.folder, `${Object.values(all).join('-')}.sst`);
    if (!existsSync(file)) this.make(all, file);
    return { ...all, file, bytes: statSync(file).size };
  }

  /** Gives the space of a large table back, unless it is to be kept. */
  drop(table) {
    if (!this.keep) rmSync(table.file, { force: true });
  }

  /** One memtable takes everything in and is flushed once: one table. */
  make(all, file) {
    const tool = realTool('db_bench');
    if (tool === undefined)
      throw new Error('db_bench is not on PATH: it makes the tables (Debian: rocksdb-tools)');
    this.checkSpace(all);
    process.stderr.write(`bench: making ${path.basename(file)}\n`);
    const db = path.join(this.folder, 'db');
    rmSync(db, { recursive: true, force: true });
    const flags = {
      db,
      benchmarks: 'fillseq,flush',
      num: all.entries,
      value_size: all.valueBytes,
      compression_type: all.compression,
      compression_ratio: all.compressionRatio,
      block_size: all.blockBytes,
      checksum_type: all.checksum,
      write_buffer_size: 2 ** 36,
      disable_wal: true,
      disable_auto_compactions: true,
      seed: 1,
    };
    try {
      const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
      execFileSync(tool, args, { stdio: ['ignore', 'ignore', 'pipe'] });
      const tables = readdirSync(db).filter((name) => name.endsWith('.sst'));
      if (tables.length !== 1) throw new Error(`db_bench made ${tables.length} tables where one is wanted`);
      renameSync(path.join(db, tables[0]), file);
    } finally {
      rmSync(db, { recursive: true, force: true });
    }
  }

  checkSpace(all) {
    const entryBytes = 16 + 8 + all.valueBytes + MEMTABLE_ENTRY_BYTES;
    const { bavail, bsize } = statfsSync(this.folder);
    const wanted = all.entries * entryBytes;
    if (bavail * bsize >= wanted) return;
    const megabytes = (bytes) => `${Math.round(bytes / 1e6)} MB`;
    throw new Error(`${this.folder} has ${megabytes(bavail * bsize)} free, ${megabytes(wanted)} are wanted`);
  }
}
