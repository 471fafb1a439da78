import { DEFAULT_COMPRESSION_LEVEL } from '../../codec/encoder.ts';
import type { CompressionName } from '../../codec/registry.ts';
import type { Environment } from '../../engine/environment.ts';
import { UnsupportedError } from '../../errors.ts';
import type { TableBuilder, TableBuilderEnvironment } from '../../format/table-builder/table-builder.ts';
import type { TableOptions } from '../../format/table-builder/table-options.ts';
import type { EntrySource } from '../../format/table-entry.ts';
import type { ByteSink } from '../../render/sink.ts';
import { type TriedTable, tryTable } from '../../tools/try-table.ts';
import { walkEntries } from '../../tools/walk-entries.ts';
import { orderAsGiven } from '../../tools/write/order-as-given.ts';
import type { Compat, RecompressOptions } from './arguments.ts';
import { COMPRESSION_TYPES } from './compression-types.ts';
import type { DumpedFile } from './dumped-file.ts';
import { placeOfFinding } from './open-dump-file.ts';

const BLOCKS_PER_TURN = 256;

/**
 * Writes the entries of a table in memory again, with each compression and level, and says what came out. Range
 * tombstones are left out, as the tool does. The lines of 11.9, or of 7.8.3, but for the times and for the bytes that
 * codecs of other versions need. False when the file could not be read to its end.
 */
export async function recompress(
  stdout: ByteSink,
  file: DumpedFile,
  environment: Environment & TableBuilderEnvironment,
  options: RecompressOptions,
  compat: Compat,
): Promise<boolean> {
  if (compat === '7.8') stdout.writeLine(`Block Size: ${options.blockSize}`);
  // 7.8 names those that it does not know among all, too.
  const namesUnknown = options.types !== undefined || compat === '7.8';
  for (const type of options.types ?? COMPRESSION_TYPES.keys()) {
    const compression = COMPRESSION_TYPES.get(type);
    const isWritten = compression !== undefined && (await canWrite(environment, compression));
    if (!isWritten) {
      if (namesUnknown) stdout.writeLine(`Unsupported compression type: ${type}.`);
      continue;
    }
    const threads = `Block Size: ${options.blockSize}  Threads: ${options.parallelThreads}`;
    stdout.writeLine(`Compression: ${type.padEnd(24)}${compat === '7.8' ? '' : ` ${threads}`}`);
    for (let level = options.levelFrom; level <= options.levelTo; level++) {
      const table = tableOptions(file, compression, level, options, compat);
      const tried = await tryTable(environment, table, (builder) => feed(file, environment, builder));
      if (file.damaged) return false;
      stdout.writeLine(compat === '7.8' ? lineOf78(level, tried) : line(level, tried));
    }
  }
  return true;
}

const CODEC_DEFAULTS = { level: DEFAULT_COMPRESSION_LEVEL, windowBits: -14, strategy: 0, checksum: false };

async function canWrite(
  environment: TableBuilderEnvironment,
  compression: CompressionName,
): Promise<boolean> {
  if (compression === 'none') return true;
  try {
    await environment.encoders.open(compression, CODEC_DEFAULTS);
    return true;
  } catch (error) {
    if (error instanceof UnsupportedError) return false;
    throw error;
  }
}

function tableOptions(
  { shape }: DumpedFile,
  compression: CompressionName,
  level: number,
  options: RecompressOptions,
  compat: Compat,
): TableOptions {
  const { comparator, comparatorName, storedTimestampSize, timestampSize } = shape;
  const known = storedTimestampSize === timestampSize ? comparator : comparator?.withoutTimestamp;
  return {
    writerProfile: compat === '7.8' ? '7.8' : '11.9',
    comparator: known ?? orderAsGiven(comparatorName ?? '', storedTimestampSize),
    blockSize: options.blockSize,
    enableIndexCompression: options.enableIndexCompression,
    compression,
    compressionOptions: {
      ...options.compressionOptions,
      ...(level === DEFAULT_COMPRESSION_LEVEL ? {} : { level }),
    },
  };
}

async function feed(file: DumpedFile, environment: Environment, builder: TableBuilder): Promise<void> {
  const { blockTable } = file.opened;
  if (blockTable === undefined) return;
  const { table, blocks } = blockTable;
  const entry = ({ key, keyLength, data, valueStart, valueEnd }: EntrySource): boolean => {
    builder.add(key, 0, keyLength, data, valueStart, valueEnd);
    return true;
  };
  for (let first = 0; first < blocks.count && !file.damaged; first += BLOCKS_PER_TURN) {
    const end = Math.min(blocks.count, first + BLOCKS_PER_TURN);
    await walkEntries(
      table,
      blocks,
      environment,
      { first, end },
      { entry, damage: (finding) => file.report(finding, placeOfFinding(finding, table, blocks)) },
    );
    await builder.settle();
  }
}

function line(level: number, tried: TriedTable): string {
  const { dataBytes, rawDataBytes, writeMicros, readMicros } = tried;
  const [compressed, forRatio, otherwise] = outcomes(tried);
  return (
    `Cx level: ${level} Cx size: ${wide(dataBytes, 10)} Uncx size: ${wide(rawDataBytes, 10)}` +
    ` Ratio: ${ratioText(rawDataBytes / dataBytes)}` +
    ` Write usec: ${wide(Math.round(writeMicros), 10)}  Read usec: ${wide(Math.round(readMicros), 10)} ` +
    ` Cx count: ${compressed} Not cx for ratio: ${forRatio} Not cx otherwise: ${otherwise}`
  );
}

function lineOf78(level: number, tried: TriedTable): string {
  const { fileBytes, dataBlocks, writeMicros } = tried;
  const [compressed, forRatio, aborted] = outcomes(tried);
  return (
    `Compression level: ${level} Size: ${wide(fileBytes, 10)} Blocks: ${wide(dataBlocks, 6)}` +
    ` Time Taken: ${wide(Math.round(writeMicros), 10)} microsecs Compressed: ${compressed}` +
    ` Not compressed (ratio): ${forRatio} Not compressed (abort): ${aborted}`
  );
}

/**
 * Counts with their shares, by the tool's own arithmetic: its counters also see the blocks of the index, and what they
 * did not see it takes to be stored as it is for its ratio.
 */
function outcomes({ dataBlocks, compressedBlocks, rejectedBlocks }: TriedTable): string[] {
  const all = Math.max(dataBlocks, compressedBlocks + rejectedBlocks);
  const share = (count: number): string => {
    const percent = all === 0 ? 0 : (100 * count) / all;
    return `${wide(count, 6)} (${percent.toFixed(1).padStart(5)}%)`;
  };
  return [compressedBlocks, all - compressedBlocks - rejectedBlocks, rejectedBlocks].map(share);
}

const wide = (value: number, width: number): string => String(value).padStart(width);

/** As C++ prints a double; 0 by 0 is "-nan" there. */
function ratioText(ratio: number): string {
  return (Number.isNaN(ratio) ? '-nan' : ratio.toFixed(6)).padStart(10);
}
