import { SstError, withPending } from '../../errors.ts';
import { BlockIterator } from '../../format/block/block-iterator.ts';
import type { ByteArena } from '../../format/byte-arena.ts';
import { type DataBlockList, listDataBlocks } from '../../format/index/data-blocks.ts';
import { TRAILER_SIZE } from '../../format/internal-key.ts';
import type { TableReader } from '../../format/table-reader.ts';
import type { Finding } from '../finding.ts';
import { dictionaryMissing } from '../walk-entries.ts';

/** Damaged data blocks side by side, and which keys they cost, for a check that decodes no contents. */
export class DamagedRuns {
  private readonly runs: { first: number; end: number; findings: Finding[] }[] = [];
  private readonly iterator = new BlockIterator();
  private readonly minKeyLength: number;
  private separators: ByteArena | undefined;

  constructor(
    private readonly table: TableReader,
    private readonly blocks: DataBlockList,
    private readonly dictionary: Uint8Array | undefined | 'lost',
  ) {
    this.minKeyLength = TRAILER_SIZE + table.storedTimestampSize;
  }

  /** A damaged block, in order of ordinals, with what is kept of its findings. */
  add(ordinal: number, findings: readonly Finding[]): void {
    const last = this.runs.at(-1);
    if (last?.end === ordinal) {
      last.end++;
      last.findings.push(...findings);
    } else if (findings.length > 0) {
      this.runs.push({ first: ordinal, end: ordinal + 1, findings: [...findings] });
    }
  }

  /**
   * Completes the findings: from the key before to the key behind each run of damaged blocks,
   * from the neighbouring blocks, or from the separators where these cannot be decoded.
   */
  async close(): Promise<void> {
    for (const { first, end, findings } of this.runs) {
      const after = first === 0 ? null : await this.borderKey(first - 1, 'last');
      const before = end >= this.blocks.count ? null : await this.borderKey(end, 'first');
      for (const finding of findings) finding.lost = { after, before, entries: null };
    }
  }

  private async borderKey(ordinal: number, side: 'first' | 'last'): Promise<Uint8Array | null> {
    const { table, blocks, dictionary, iterator } = this;
    const { index } = table;
    try {
      const handle = { offset: blocks.offsets[ordinal]!, size: blocks.sizes[ordinal]! };
      if (dictionary === 'lost') throw dictionaryMissing(table.blocks.place(handle.offset, 'data'));
      const contents = await withPending(() => table.blocks.read(handle, 'data', dictionary));
      iterator.reset(contents);
      while (iterator.next() && side === 'last');
      if (iterator.keyLength >= this.minKeyLength) {
        return iterator.key.slice(0, iterator.keyLength - this.minKeyLength);
      }
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
    }
    if (index === undefined || index.guessed) return null;
    // Listed without separators, as they are rarely needed here.
    this.separators ??= (await listDataBlocks(table)).separators;
    if (this.separators.count !== blocks.count) return null;
    const separator = this.separators.at(side === 'last' ? ordinal : ordinal - 1);
    const suffix = (index.userKeys ? 0 : TRAILER_SIZE) + table.storedTimestampSize;
    return separator.slice(0, Math.max(0, separator.length - suffix));
  }
}
