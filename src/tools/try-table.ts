import { memorySource } from '../bytes/source.ts';
import type { Environment } from '../engine/environment.ts';
import { withPending } from '../errors.ts';
import { BlockIterator } from '../format/block/block-iterator.ts';
import { visitBlocks } from '../format/block-pipeline.ts';
import { listDataBlocks } from '../format/index/data-blocks.ts';
import {
  openTableBuilder,
  type TableBuilder,
  type TableBuilderEnvironment,
} from '../format/table-builder/table-builder.ts';
import type { TableOptions } from '../format/table-builder/table-options.ts';
import { MemorySink } from '../format/table-builder/table-sink.ts';
import { openTable } from '../format/table-reader.ts';

/** What a table would be with some set of options. */
export interface TriedTable {
  readonly fileBytes: number;
  /** Data blocks as stored, trailers included, and what is in them uncompressed. */
  readonly dataBytes: number;
  readonly rawDataBytes: number;
  readonly indexBytes: number;
  readonly filterBytes: number;
  readonly dataBlocks: number;
  /** Of all blocks that might be compressed, those of the index included: those that were, and those that gained too little. */
  readonly compressedBlocks: number;
  readonly rejectedBlocks: number;
  /** Data blocks that are stored as they are, for either reason. */
  readonly uncompressedDataBlocks: number;
  readonly writeMicros: number;
  readonly readMicros: number;
}

/** Writes a table in memory and reads it back. `feed` adds the entries, and awaits while the builder is saturated. */
export async function tryTable(
  environment: Environment & TableBuilderEnvironment,
  options: TableOptions,
  feed: (builder: TableBuilder) => Promise<void>,
): Promise<TriedTable> {
  const sink = new MemorySink();
  const start = environment.clock.nowMicros();
  const builder = await openTableBuilder(options, sink, environment);
  await feed(builder);
  const { fileSize, blocks } = await builder.finish();
  const written = environment.clock.nowMicros();
  await readAll(environment, sink.contents());
  return {
    fileBytes: fileSize,
    dataBytes: blocks.dataSize,
    rawDataBytes: blocks.rawDataSize,
    indexBytes: blocks.indexSize,
    filterBytes: blocks.filterSize,
    dataBlocks: blocks.dataBlocks,
    compressedBlocks: blocks.compressed,
    rejectedBlocks: blocks.rejected,
    uncompressedDataBlocks: blocks.compressionRejected + blocks.compressionBypassed,
    writeMicros: written - start,
    readMicros: environment.clock.nowMicros() - written,
  };
}

async function readAll(environment: Environment, bytes: Uint8Array): Promise<void> {
  const table = await withPending(() => openTable(memorySource(bytes, 'a table in memory'), environment));
  const list = await listDataBlocks(table);
  const dictionary = await withPending(() => table.readDictionary());
  const entries = new BlockIterator();
  const { decodeZstdFrames } = environment;
  await visitBlocks(table.blocks, list, { blockType: 'data', dictionary, decodeZstdFrames }, (block) => {
    if (block.error !== undefined) throw block.error;
    entries.reset(block.contents);
    while (entries.next());
    return true;
  });
}
