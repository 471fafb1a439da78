import { SstError } from '../../errors.ts';
import { BlockIterator } from '../../format/block/block-iterator.ts';
import { type BlockLayout, decodeBlockLayout } from '../../format/block/block-layout.ts';
import { IndexBlockIterator } from '../../format/index/index-block-iterator.ts';
import { TRAILER_SIZE } from '../../format/internal-key.ts';
import { hasEntries } from '../dump/block-entries.ts';
import type { PlacedBlock } from '../dump/block-order.ts';
import type { DumpSubject } from '../dump/open-subject.ts';
import { encodingOf, hasNames, indexUserKey, isIndex } from '../dump/walk-blocks.ts';
import { Row } from '../row.ts';
import { filterPart } from './filter-part.ts';
import type { Part, PartEntry } from './part.ts';

/** Of blocks that are one part, in words. */
const WHOLE: Readonly<Partial<Record<PlacedBlock['type'], readonly [part: string, text: string]>>> = {
  compression_dict: ['dictionary', 'the compression dictionary'],
  hash_prefixes: ['hash_index.prefixes', 'prefixes of the hash index, one behind the other'],
  hash_metadata: [
    'hash_index.metadata',
    'of each prefix three varint32: its length, its first data block, how many there are',
  ],
};

/** The part of the uncompressed contents `bytes` of a block at byte `at` of them. */
export function contentsPart(
  subject: DumpSubject,
  block: PlacedBlock,
  name: string | null,
  bytes: Uint8Array,
  at: number,
): Part {
  if (block.type === 'filter' || block.type === 'filter_partition') return filterPart(name, bytes, at);
  const [part, text] = WHOLE[block.type] ?? ['payload', 'contents of a kind that is not known here'];
  if (!hasEntries(block.type)) return { part, start: 0, end: bytes.length, text };
  try {
    const layout = decodeBlockLayout(bytes);
    const found = layoutPart(layout, bytes.length, at);
    if (found !== undefined) return found;
    const entries = isIndex(block.type)
      ? indexEntryPart(subject, block, bytes, at)
      : entryPart(subject, block, bytes, at);
    return entries ?? { part: 'payload', start: 0, end: layout.valuesEnd, text: 'no entry refers to it' };
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    return { part: 'payload', start: 0, end: bytes.length, text: error.message };
  }
}

/** What stands behind the entries and values of a block; undefined within them. */
function layoutPart(layout: BlockLayout, size: number, at: number): Part | undefined {
  const { restartsStart, restartCount, bucketsStart, bucketCount, separated } = layout;
  const packedStart = size - 4;
  if (at < restartsStart) return undefined;
  if (at >= packedStart) {
    const text = `number of restarts, ${restartCount}, and flags`;
    return { part: 'block.packed', start: packedStart, end: size, text };
  }
  if (separated && at >= packedStart - 4) {
    const text = 'where the values begin';
    return { part: 'block.values_offset', start: packedStart - 4, end: packedStart, text };
  }
  if (at < bucketsStart) {
    const restart = Math.floor((at - restartsStart) / 4);
    const start = restartsStart + 4 * restart;
    const text = `where the entry of restart ${restart} begins`;
    return { part: 'block.restart', start, end: start + 4, text };
  }
  const bucket = at - bucketsStart;
  if (bucket < bucketCount) {
    const text = `bucket ${bucket} of ${bucketCount} of the hash index`;
    return { part: 'block.hash_bucket', start: at, end: at + 1, text };
  }
  const start = bucketsStart + bucketCount;
  return { part: 'block.hash_buckets', start, end: start + 2, text: 'number of buckets of the hash index' };
}

/** Where the bytes of one entry lie; the value may lie apart from the rest. */
interface EntryBounds {
  readonly start: number;
  readonly keyStart: number;
  /** Where the timestamp and the trailer begin, as far as they are not shared; both `keyEnd` where there are none. */
  readonly timestampStart: number;
  readonly trailerStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** The part of an entry that has the byte `at`, without what it belongs to; undefined: it lies elsewhere. */
function partOfEntry(bounds: EntryBounds, at: number, lengths: string, value: string): Part | undefined {
  const { start, keyStart, timestampStart, trailerStart, keyEnd, valueStart, valueEnd } = bounds;
  if (at >= valueStart && at < valueEnd)
    return { part: 'entry.value', start: valueStart, end: valueEnd, text: value };
  if (at < start || at >= keyEnd) return undefined;
  if (at < keyStart) return { part: 'entry.lengths', start, end: keyStart, text: lengths };
  if (at < timestampStart) {
    const text = 'the bytes of its key that are its own';
    return { part: 'entry.key', start: keyStart, end: timestampStart, text };
  }
  if (at < trailerStart)
    return {
      part: 'entry.timestamp',
      start: timestampStart,
      end: trailerStart,
      text: 'timestamp of its key',
    };
  const text = at === keyEnd - TRAILER_SIZE ? 'value type' : 'sequence number';
  return { part: 'entry.trailer', start: trailerStart, end: keyEnd, text };
}

/** An entry of a data, range-deletion or properties block or of the metaindex. */
function entryPart(
  subject: DumpSubject,
  block: PlacedBlock,
  bytes: Uint8Array,
  at: number,
): Part | undefined {
  const iterator = new BlockIterator();
  iterator.reset(bytes);
  const isNamed = hasNames(block.type);
  const trailerLength = isNamed ? 0 : TRAILER_SIZE;
  const timestampLength = isNamed ? 0 : subject.shape.storedTimestampSize;
  while (iterator.next()) {
    const { entryStart, keyStart, keyEnd, valueStart, valueEnd, shared, nonShared } = iterator;
    if (at >= Math.max(keyEnd, valueEnd) || (at >= keyEnd && at < valueStart)) continue;
    const trailerStart = Math.max(keyStart, keyEnd - trailerLength);
    const bounds: EntryBounds = {
      start: entryStart,
      keyStart,
      timestampStart: Math.max(keyStart, trailerStart - timestampLength),
      trailerStart,
      keyEnd,
      valueStart,
      valueEnd,
    };
    const lengths = `lengths: shares ${shared} bytes, has ${nonShared} of its own, value ${valueEnd - valueStart}`;
    const found = partOfEntry(bounds, at, lengths, block.type === 'range_del' ? 'its end key' : 'its value');
    if (found !== undefined) return { ...found, entry: describeEntry(subject, block, iterator) };
  }
  return undefined;
}

/** An entry of an index: a separator and what it leads to. */
function indexEntryPart(
  subject: DumpSubject,
  block: PlacedBlock,
  bytes: Uint8Array,
  at: number,
): Part | undefined {
  const encoding = encodingOf(subject, block, bytes);
  if (encoding === undefined) return undefined;
  const entries = new IndexBlockIterator(bytes, encoding);
  const trailerLength = encoding.userKeys ? 0 : TRAILER_SIZE;
  while (entries.next()) {
    const { entryStart, keyEnd, nonShared, valueStart, valueEnd, offset, size } = entries;
    const keyStart = keyEnd - nonShared;
    const trailerStart = Math.max(keyStart, keyEnd - trailerLength);
    const bounds: EntryBounds = {
      start: entryStart,
      keyStart,
      timestampStart: Math.max(keyStart, trailerStart - subject.shape.storedTimestampSize),
      trailerStart,
      keyEnd,
      valueStart,
      valueEnd,
    };
    const firstKey = encoding.firstKeys ? ', and its first key' : '';
    const value = `handle of the block at ${offset}, ${size} bytes${firstKey}`;
    const found = partOfEntry(bounds, at, `lengths: has ${nonShared} bytes of its own`, value);
    if (found === undefined) continue;
    const key = indexUserKey(subject, encoding, entries);
    return { ...found, entry: { offset: entryStart, key, seqno: null, type: null } };
  }
  return undefined;
}

function describeEntry(subject: DumpSubject, block: PlacedBlock, iterator: BlockIterator): PartEntry {
  const offset = iterator.entryStart;
  if (hasNames(block.type)) {
    return { offset, key: iterator.key.slice(0, iterator.keyLength), seqno: null, type: null };
  }
  const row = new Row(subject.shape);
  if (block.type === 'range_del') {
    row.takeTombstone({
      startKey: iterator.key.subarray(0, iterator.keyLength),
      end: iterator.data.subarray(iterator.valueStart, iterator.valueEnd),
    });
  } else {
    row.takeEntry(iterator);
  }
  return {
    offset,
    key: row.key.slice(0, row.keyEnd),
    seqno: row.seqnoText ?? String(row.seqno),
    type: row.type,
  };
}
