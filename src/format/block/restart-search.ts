import { readFixed32 } from '../../bytes/fixed.ts';
import { CorruptionError } from '../../errors.ts';
import { varintEnd, varintValue } from './block-iterator.ts';
import type { ParsedBlock } from './parsed-block.ts';
import type { SeekTarget } from './seek-target.ts';

/** How the entries of a block are stored, as far as finding the key at a restart goes. */
export interface RestartKeys {
  /** Keys are user keys, not internal ones. */
  readonly userKeys: boolean;
  /** Entries have no value length: those of an index with delta-encoded values. */
  readonly withoutValueLength: boolean;
}

export const DATA_RESTART_KEYS: RestartKeys = { userKeys: false, withoutValueLength: false };

/**
 * The last restart whose key comes before the target; the first one where none does, also in a block without any.
 * A key at a restart is stored whole, so it is compared where it lies: no copy, no object.
 * Throws CorruptionError for a restart that points beyond the entries, or to an entry that shares bytes.
 */
export function searchRestarts(block: ParsedBlock, keys: RestartKeys, target: SeekTarget): number {
  let low = 0;
  let high = block.layout.restartCount - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (compareAtRestart(block, keys, middle, target) < 0) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Order of the key at a restart against the target. */
export function compareAtRestart(
  block: ParsedBlock,
  keys: RestartKeys,
  restart: number,
  target: SeekTarget,
): number {
  const { contents, layout } = block;
  const end = layout.entriesEnd;
  let pos = readFixed32(contents, layout.restartsStart + 4 * restart);
  if (pos >= end) throw outside(restart, pos, end);
  if (contents[pos] !== 0) throw sharing(restart, pos);
  // A block ends in at least four bytes of restarts: reading two bytes ahead stays inside.
  let keyLength = contents[pos + 1]!;
  if (keyLength < 128) {
    pos += 2;
  } else {
    const from = pos + 1;
    pos = varintEnd(contents, from, end);
    keyLength = varintValue(contents, from, pos);
  }
  if (!keys.withoutValueLength) pos = contents[pos]! < 128 ? pos + 1 : varintEnd(contents, pos, end);
  if (layout.separated) pos = varintEnd(contents, pos, end);
  const keyEnd = pos + keyLength;
  if (keyEnd > end) throw outside(restart, keyEnd, end);
  return keys.userKeys
    ? target.compareUserKey(contents, pos, keyEnd)
    : target.compareInternalKey(contents, pos, keyEnd);
}

/** The last restart that lies before the position; the first one where none does. */
export function restartBefore({ contents, layout }: ParsedBlock, position: number): number {
  let low = 0;
  let high = layout.restartCount - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (readFixed32(contents, layout.restartsStart + 4 * middle) < position) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Where the entry of a restart begins; 0 in a block without restarts. Throws CorruptionError beyond the entries. */
export function restartPosition({ contents, layout }: ParsedBlock, restart: number): number {
  if (layout.restartCount === 0) return 0;
  const position = readFixed32(contents, layout.restartsStart + 4 * restart);
  if (position > layout.entriesEnd) throw outside(restart, position, layout.entriesEnd);
  return position;
}

function outside(restart: number, position: number, end: number): CorruptionError {
  return new CorruptionError(
    'block_format',
    `restart ${restart} leads to ${position}, the entries end at ${end}`,
  );
}

function sharing(restart: number, position: number): CorruptionError {
  return new CorruptionError(
    'block_format',
    `restart ${restart} leads to ${position}, where an entry shares bytes with the one before it`,
  );
}
