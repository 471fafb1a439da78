import type { CompressionName } from '../../codec/registry.ts';
import type { Environment } from '../../engine/environment.ts';
import { InvalidArgumentError, UnsupportedError } from '../../errors.ts';
import type { TableBuilder, TableBuilderEnvironment } from '../../format/table-builder/table-builder.ts';
import type { TableOptions } from '../../format/table-builder/table-options.ts';
import { type TriedTable, tryTable } from '../try-table.ts';

/** Tables that differ from what was asked for in one option each, written and read in memory. */

/** So much of keys and values is tried, from the beginning of what is kept. */
const SAMPLE_BYTES = 16 * 1024 * 1024;

/** Entries one behind the other, to be written again and again. */
export class EntrySample {
  count = 0;
  /** Of keys and values. */
  rawBytes = 0;
  /** Entries came that it had no room for. */
  isPart = false;
  private bytes = new Uint8Array(64 * 1024);
  /** Where each key and each value ends, in turns. */
  private readonly ends: number[] = [];

  add(key: Uint8Array, keyLength: number, data: Uint8Array, start: number, end: number): void {
    const valueAt = this.rawBytes + keyLength;
    const to = valueAt + end - start;
    if (this.isPart || (to > SAMPLE_BYTES && this.count > 0)) {
      this.isPart = true;
      return;
    }
    if (to > this.bytes.length) {
      const larger = new Uint8Array(Math.max(to, 2 * this.bytes.length));
      larger.set(this.bytes.subarray(0, this.rawBytes));
      this.bytes = larger;
    }
    this.bytes.set(key.subarray(0, keyLength), this.rawBytes);
    this.bytes.set(data.subarray(start, end), valueAt);
    this.ends.push(valueAt, to);
    this.rawBytes = to;
    this.count++;
  }

  async feed(builder: TableBuilder): Promise<void> {
    const { bytes, ends } = this;
    let start = 0;
    for (let i = 0; i < ends.length; i += 2) {
      const valueAt = ends[i]!;
      const end = ends[i + 1]!;
      builder.add(bytes, start, valueAt, bytes, valueAt, end);
      if (builder.isSaturated) await builder.settle();
      start = end;
    }
  }
}

export interface NamedTry extends TriedTable {
  readonly name: string;
}

/** The first one is what was asked for. Options that do not go together are left out. */
export async function tryTables(
  environment: Environment & TableBuilderEnvironment,
  asked: TableOptions,
  sample: EntrySample,
): Promise<NamedTry[]> {
  const tries: NamedTry[] = [];
  if (sample.count === 0) return tries;
  for (const [name, options] of variantsOf(asked)) {
    try {
      tries.push({ name, ...(await tryTable(environment, options, (builder) => sample.feed(builder))) });
    } catch (error) {
      if (!(error instanceof InvalidArgumentError || error instanceof UnsupportedError)) throw error;
      if (tries.length === 0) throw error;
    }
  }
  return tries;
}

const KIB = 1024;
/** Codecs that take a dictionary. */
const WITH_DICTIONARY: readonly (CompressionName | undefined)[] = ['zstd', 'lz4', 'zlib'];

/** One option changed each; what was asked for comes once. */
function variantsOf(asked: TableOptions): [string, TableOptions][] {
  const variants: [string, TableOptions][] = [['as asked', asked]];
  const isLevelDb = asked.writerProfile === 'leveldb';
  const own = asked.compression ?? 'none';
  const compressed = (compression: CompressionName, level?: number): TableOptions => {
    const {
      level: _level,
      maxDictBytes: _bytes,
      checksum: _checksum,
      ...rest
    } = asked.compressionOptions ?? {};
    return { ...asked, compression, compressionOptions: level === undefined ? rest : { ...rest, level } };
  };
  for (const codec of isLevelDb ? LEVELDB_CODECS : CODECS) {
    if (codec !== own) variants.push([codec, compressed(codec)]);
  }
  for (const level of [1, 6, 12]) variants.push([`zstd level ${level}`, compressed('zstd', level)]);
  if (!isLevelDb) {
    const codec = WITH_DICTIONARY.includes(own) ? own : 'zstd';
    for (const kib of [4, 16, 64]) {
      const dictionary = {
        maxDictBytes: kib * KIB,
        ...(codec === 'zstd' ? { zstdMaxTrainBytes: 100 * kib * KIB } : {}),
      };
      const base = codec === own ? asked : compressed(codec);
      const compressionOptions = { ...base.compressionOptions, ...dictionary };
      variants.push([`${codec}, dictionary of ${kib} KiB`, { ...base, compressionOptions }]);
    }
  }
  for (const kib of [4, 16, 64]) {
    if ((asked.blockSize ?? 4 * KIB) !== kib * KIB) {
      variants.push([`blocks of ${kib} KiB`, { ...asked, blockSize: kib * KIB }]);
    }
  }
  for (const interval of [1, 4, 16, 64]) {
    if ((asked.blockRestartInterval ?? 16) !== interval)
      variants.push([`restart interval ${interval}`, { ...asked, blockRestartInterval: interval }]);
  }
  if (isLevelDb) return variants;
  for (const indexType of ['binary_search', 'two_level', 'first_key'] as const) {
    if ((asked.indexType ?? 'binary_search') !== indexType)
      variants.push([`index ${indexType}`, { ...asked, indexType }]);
  }
  return variants;
}

const CODECS: readonly CompressionName[] = ['none', 'snappy', 'lz4', 'zlib', 'zstd'];
const LEVELDB_CODECS: readonly CompressionName[] = ['none', 'snappy', 'zstd'];
