import { CompressionType } from '../codec/registry.ts';
import type { Environment } from '../engine/environment.ts';
import { CorruptionError, type ErrorPlace, SstError, withPending } from '../errors.ts';
import { BlockIterator } from '../format/block/block-iterator.ts';
import { type LoadedBlock, visitBlocks } from '../format/block-pipeline.ts';
import type { DataBlockList } from '../format/index/data-blocks.ts';
import { TRAILER_SIZE } from '../format/internal-key.ts';
import { type EntrySource, userKeyEnd } from '../format/table-entry.ts';
import type { TableReader } from '../format/table-reader.ts';
import { blockOfError } from './block-of-error.ts';
import { DamageShapes } from './damage-shape.ts';
import { dataBlockOf, type Finding, findingOf } from './finding.ts';
import { LossTracker } from './loss-tracker.ts';

export interface WalkOptions {
  /** Blocks [first, end) of the list; by default all. */
  readonly first?: number;
  readonly end?: number;
  readonly reverse?: boolean;
}

export interface EntryVisitor {
  /** One entry, in stored order; false ends the walk. */
  entry(entry: EntrySource): boolean;
  /** A fault: of a block, of one entry, or of the index. Not called for what `TableReader.problems` says. */
  damage(finding: Finding): void;
  /** After each block: how far in the file the walk has come, in bytes. */
  advanced?(offset: number): void;
}

/**
 * Visits the entries of a block-based table in stored order, past whatever is damaged. Faults are given to the
 * visitor with the range of keys that they may have cost; the walk goes on behind them.
 */
export async function walkEntries(
  table: TableReader,
  blocks: DataBlockList,
  environment: Environment,
  options: WalkOptions,
  visitor: EntryVisitor,
): Promise<void> {
  const tracker = new LossTracker(table, (finding) => {
    // Walking backward, the key that was seen before is the one behind in the file.
    const { lost } = finding;
    if (options.reverse && lost !== undefined) [lost.after, lost.before] = [lost.before, lost.after];
    visitor.damage(finding);
  });
  const indexProblems = [...blocks.problems];
  const loseIndex = (error: SstError): void =>
    tracker.lose(findingOf(error, blockOfError(error, table, blocks)));
  const dictionary = await dictionaryOf(table, visitor);
  const reader = new BlockEntries(
    table,
    tracker,
    visitor,
    dictionary === null,
    new DamageShapes(table.blocks),
  );
  const visit = (block: LoadedBlock): boolean => {
    while (!options.reverse && indexProblems.length > 0 && indexProblems[0]!.position <= block.ordinal) {
      loseIndex(indexProblems.shift()!.error);
    }
    visitor.advanced?.(block.offset + block.size);
    return options.reverse ? reader.visitReversed(block) : reader.visit(block);
  };
  await visitBlocks(
    table.blocks,
    blocks,
    {
      blockType: 'data',
      dictionary: dictionary ?? undefined,
      decodeZstdFrames: environment.decodeZstdFrames,
      ...options,
    },
    visit,
  );
  for (const { error } of indexProblems) loseIndex(error);
  tracker.end();
}

/** Null: there is one, and it cannot be read. */
async function dictionaryOf(
  table: TableReader,
  visitor: EntryVisitor,
): Promise<Uint8Array | undefined | null> {
  try {
    return await withPending(() => table.readDictionary());
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    visitor.damage(findingOf(error, blockOfError(error, table)));
    return null;
  }
}

/** Compression types whose blocks are made with the dictionary of the file. */
export function needsDictionary(compressionType: number): boolean {
  return (
    compressionType === CompressionType.zlib ||
    compressionType === CompressionType.lz4 ||
    compressionType === CompressionType.lz4hc ||
    compressionType === CompressionType.zstd
  );
}

/** A block whose dictionary is lost: it may decode all the same, to something else than it was. */
export function dictionaryMissing(place: ErrorPlace): CorruptionError {
  return new CorruptionError(
    'block_decompress',
    'the block needs the compression dictionary, which cannot be read',
    place,
  );
}

/** Turns loaded blocks into entries, and faults into findings. */
class BlockEntries {
  private readonly iterator = new BlockIterator();

  constructor(
    private readonly table: TableReader,
    private readonly tracker: LossTracker,
    private readonly visitor: EntryVisitor,
    private readonly dictionaryLost: boolean,
    private readonly shapes: DamageShapes,
  ) {}

  visit(block: LoadedBlock): boolean {
    if (this.dictionaryLost && needsDictionary(block.compressionType)) {
      return this.loseBlock(block, dictionaryMissing(this.table.blocks.place(block.offset, 'data')));
    }
    if (block.error !== undefined) return this.loseBlock(block, block.error);
    const { iterator, tracker, visitor } = this;
    let open = true;
    // A block that fails before its first entry leaves nothing of the block that was here before.
    iterator.count = 0;
    try {
      iterator.reset(block.contents);
      let first = true;
      while (open && iterator.next()) {
        if (userKeyEnd(iterator, this.table) < 0) {
          this.loseEntry(block, this.tooShort());
          continue;
        }
        if (first) tracker.good(iterator);
        first = false;
        open = visitor.entry(iterator);
      }
      if (!first && iterator.keyLength >= TRAILER_SIZE) tracker.good(iterator);
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      // The entries before the fault were good; nothing behind it can be trusted to begin anywhere.
      if (iterator.count > 0) tracker.good(iterator);
      this.loseBlock(block, error);
    }
    return open;
  }

  /** Entries in the opposite order: the block is read forward once, as an entry needs the key before it. */
  visitReversed(block: LoadedBlock): boolean {
    const entries: EntrySource[] = [];
    const collect: EntryVisitor = {
      entry(entry) {
        entries.push({
          data: entry.data,
          key: entry.key.slice(0, entry.keyLength),
          keyLength: entry.keyLength,
          valueStart: entry.valueStart,
          valueEnd: entry.valueEnd,
        });
        return true;
      },
      damage: (finding) => this.visitor.damage(finding),
    };
    const { table, tracker, dictionaryLost, shapes } = this;
    const forward = new BlockEntries(table, tracker, collect, dictionaryLost, shapes);
    forward.visit(block);
    for (let i = entries.length - 1; i >= 0; i--) if (!this.visitor.entry(entries[i]!)) return false;
    return true;
  }

  private loseBlock(block: LoadedBlock, error: SstError): true {
    this.loseEntry(block, error);
    return true;
  }

  private loseEntry(block: LoadedBlock, error: SstError): void {
    const place = dataBlockOf(block);
    const finding = findingOf(error, place);
    if (error.code === 'block_checksum') finding.shape = this.shapes.of(place);
    this.tracker.lose(finding);
  }

  private tooShort(): CorruptionError {
    const { iterator } = this;
    return new CorruptionError(
      'entry_malformed',
      `entry at ${iterator.entryStart} in the block: a key of ${iterator.keyLength} bytes has no room for its trailer`,
    );
  }
}
