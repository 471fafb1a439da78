import type { BorderGroup } from './borders.ts';
import type { FragmentBuilder } from './fragment-columns.ts';

/** From this length on a search and two built-in copies are cheaper than a loop. */
const MIN_BULK_COPY = 64;

/**
 * Fragments a group of tombstones whose prefixes say all about their keys, without snapshots and timestamps, and with
 * sequence numbers that are all different. Then the stack of a fragment is that of the one before with one number
 * more or less: it is copied from there, once, and no other record of what covers the current place is kept.
 *
 *   before  ... | 9 7 4 |            7 ends      8 starts
 *   after   ... | 9 7 4 | 9 4 |             or   ... | 9 7 4 | 9 8 7 4 |
 *
 * Returns false when two tombstones that cover one place have the same sequence number: what it has put out since is
 * of no use then.
 */
export function sweepPlainly(group: BorderGroup, out: FragmentBuilder): boolean {
  const { first, last, startKeys, startPrefixes, seqnos, sortedEnds, endPlaces, endsFrom } = group;
  let fragment = out.count;
  // The stack of what covers the current place: out.seqnos[top, top + length).
  let top = out.stackCount;
  let length = 0;
  let nextStart = first;
  let endIndex = endsFrom;
  let lastKey = 0;
  let lastPrefix = Number.NaN;
  let room = 0;
  let { startKeys: outStarts, endKeys: outEnds, endPrefixes: outPrefixes, stackStarts, seqnos: stacks } = out;
  for (let borders = 2 * (last - first); borders > 0; borders--) {
    const endPrefix = sortedEnds[endIndex]!;
    const isStart = nextStart < last && startPrefixes[nextStart]! <= endPrefix;
    let key: number;
    let prefix: number;
    let seqno: number;
    if (isStart) {
      prefix = startPrefixes[nextStart]!;
      key = startKeys[nextStart]!;
      seqno = seqnos[nextStart]!;
      nextStart++;
    } else {
      const place = endPlaces === undefined ? endIndex : endPlaces[endIndex]!;
      prefix = endPrefix;
      key = startKeys[place]! + 1;
      seqno = seqnos[place]!;
      endIndex++;
    }
    let from = top;
    // One stack is put out, and one more number than it has may follow.
    if (fragment + 1 >= room || top + 2 * length + 1 > stacks.length) {
      out.count = fragment;
      out.stackCount = top + length;
      out.reserve(2, length + 1);
      ({
        startKeys: outStarts,
        endKeys: outEnds,
        endPrefixes: outPrefixes,
        stackStarts,
        seqnos: stacks,
      } = out);
      room = outStarts.length;
    }
    if (length > 0 && prefix !== lastPrefix) {
      outStarts[fragment] = lastKey;
      outEnds[fragment] = key;
      outPrefixes[fragment] = prefix;
      top += length;
      stackStarts[++fragment] = top;
    }
    lastKey = key;
    lastPrefix = prefix;
    const end = from + length;
    if (length >= MIN_BULK_COPY) {
      const position = descendingPosition(stacks, from, end, seqno);
      const isThere = position < end && stacks[position] === seqno;
      if (isStart) {
        if (isThere) return false;
        const to = top + (position - from);
        stacks.copyWithin(to + 1, position, end);
        if (from !== top) stacks.copyWithin(top, from, position);
        stacks[to] = seqno;
      } else {
        const to = top + (position - from);
        if (from !== top) stacks.copyWithin(top, from, position);
        stacks.copyWithin(to, position + 1, end);
      }
    } else if (!isStart) {
      let to = top;
      for (; from < end; from++) {
        const other = stacks[from]!;
        if (other === seqno) break;
        stacks[to++] = other;
      }
      for (from++; from < end; from++) stacks[to++] = stacks[from]!;
    } else if (from === top) {
      let to = end;
      for (; to > top && stacks[to - 1]! < seqno; to--) stacks[to] = stacks[to - 1]!;
      if (to > top && stacks[to - 1] === seqno) return false;
      stacks[to] = seqno;
    } else {
      let to = top;
      for (; from < end; from++) {
        const other = stacks[from]!;
        if (other <= seqno) {
          if (other === seqno) return false;
          break;
        }
        stacks[to++] = other;
      }
      stacks[to++] = seqno;
      for (; from < end; from++) stacks[to++] = stacks[from]!;
    }
    length += isStart ? 1 : -1;
  }
  out.count = fragment;
  out.stackCount = top;
  return true;
}

/** The first position in the descending `values[low, high)` that is not above `value`. */
function descendingPosition(values: Float64Array, low: number, high: number, value: number): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! <= value) high = middle;
    else low = middle + 1;
  }
  return low;
}
