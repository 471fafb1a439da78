import { SstError, withPending } from '../../errors.ts';
import { BlockIterator } from '../../format/block/block-iterator.ts';
import { TRAILER_SIZE } from '../../format/internal-key.ts';
import { userKeyEnd } from '../../format/table-entry.ts';
import { damageShape } from '../damage-shape.ts';
import type { Finding, LostRange } from '../finding.ts';
import { type DumpSubject, placedFinding } from './open-subject.ts';

/** Flipping each bit of a block takes a second: only the first damaged ones are looked at so closely. */
const MAX_SHAPES = 8;
/** For so many holes, at most, the blocks beside them are decompressed. */
const MAX_HOLES = 256;
/** Blocks that are tried, on each side of a hole, until one decodes. */
const MAX_TRIES = 16;

/**
 * The findings with the range of keys that each may have cost, and those of the index's lost parts: from the
 * last key of the good block before to the first key of the good block behind.
 */
export async function withLostKeys(
  subject: DumpSubject,
  dictionary: Uint8Array | undefined,
  heard: readonly Finding[],
): Promise<Finding[]> {
  const { order } = subject;
  const keys = new NeighbourKeys(subject, dictionary, heard);
  let shapes = 0;
  let holes = 0;
  for (const finding of heard) {
    const { block } = finding;
    if (block === undefined) continue;
    if (finding.code === 'block_checksum' && shapes++ < MAX_SHAPES) {
      finding.shape = damageShape(subject.table!.blocks, block);
    }
    if (block.type !== 'data' || holes++ >= MAX_HOLES) continue;
    const at = order.find(block.offset);
    if (at >= 0) finding.lost = await keys.between(at, at + 1);
  }
  const all = [...heard];
  for (const { error, position } of subject.indexProblems) {
    const problem = placedFinding(error, order);
    const { code, block } = problem;
    const known = heard.find((each) => each.code === code && each.block?.offset === block?.offset);
    const finding = known ?? problem;
    if (known === undefined) all.push(finding);
    // The data blocks lie before everything else, in the order of the index.
    if (holes++ < MAX_HOLES) finding.lost = await keys.between(position, position);
  }
  return all;
}

/** User keys at the borders of data blocks, by their position in the file. */
class NeighbourKeys {
  private readonly block = new BlockIterator();
  /** Offsets of blocks that are known not to decode. */
  private readonly bad = new Set<number>();

  constructor(
    private readonly subject: DumpSubject,
    private readonly dictionary: Uint8Array | undefined,
    heard: readonly Finding[],
  ) {
    for (const { block } of heard) if (block !== undefined) this.bad.add(block.offset);
  }

  /** From the last key before position `start` to the first key at `end` or behind it; null: there is none. */
  async between(start: number, end: number): Promise<LostRange> {
    return { after: await this.find(start - 1, -1), before: await this.find(end, 1), entries: null };
  }

  private async find(from: number, step: number): Promise<Uint8Array | null> {
    const { order } = this.subject;
    for (let at = from, tries = 0; at >= 0 && at < order.count && tries < MAX_TRIES; at += step) {
      if (order.typeAt(at) !== 'data' || this.bad.has(order.offsets[at]!)) continue;
      tries++;
      const key = await this.keyOf(at, step < 0);
      if (key !== undefined) return key;
    }
    return null;
  }

  private async keyOf(at: number, last: boolean): Promise<Uint8Array | undefined> {
    const { subject, block } = this;
    const handle = subject.order.at(at);
    try {
      block.reset(await withPending(() => subject.table!.blocks.read(handle, 'data', this.dictionary)));
      let found = false;
      while (block.next()) {
        found = true;
        if (!last) break;
      }
      if (!found || block.keyLength < TRAILER_SIZE) return undefined;
      return block.key.slice(0, Math.max(0, userKeyEnd(block, subject.shape)));
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      return undefined;
    }
  }
}
