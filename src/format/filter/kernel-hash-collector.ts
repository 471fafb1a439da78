import type { KeyHash } from '../../hash/key-hash.ts';
import type { FilterKernel, FilterMemory } from '../../kernels/filter-kernel.ts';
import { fillFastLocalBloom, writeBloomMetadata } from './bloom-fill.ts';
import type { FilterHashes } from './filter-hashes.ts';
import { FILTER_METADATA_BYTES, LINE_BYTES } from './filter-metadata.ts';
import { ALONE, KEY_OF_PREFIX, PREFIX } from './hash-collector.ts';
import { ribbonRawSeed } from './ribbon-hasher.ts';
import { ribbonLayout } from './ribbon-layout.ts';
import { RIBBON_ROW_BITS, SEGMENT_BYTES } from './ribbon-math.ts';
import { firstSolvable, solveRibbon, writeRibbonMetadata } from './ribbon-solve.ts';

const HASH_BYTES = 8;
/**
 * Room for two million hashes. Pages that are not written to cost nothing: it is the copies into larger memories, and
 * the new pages of each, that took longer than the hashes of a million keys.
 */
const MEMORY_BYTES = 16 * 1024 * 1024;
/** Where there is less; room for a filter of 10,000 keys with what its solution takes. */
const MEMORY_BYTES_MIN = 512 * 1024;
const NO_BYTES: Uint8Array = new Uint8Array(0);
const NO_VIEW: DataView = new DataView(NO_BYTES.buffer);

/**
 * Hashes that are collected, and made a filter, by the kernel. A key is copied once, to where it is hashed; its hash
 * stays in the kernel's memory, and the filter is made there. HashCollector is the twin.
 */
export class KernelHashCollector implements FilterHashes {
  private readonly hash: KeyHash;
  private readonly kernel: FilterKernel;
  private memory: FilterMemory | undefined;
  /** Parts of the memory, here for the loop over keys. */
  private view = NO_VIEW;
  private ends: Uint32Array = new Uint32Array(0);
  private roles = NO_BYTES;
  private keysEnd = 0;
  private keysMax = 0;
  /** Where the next key goes, and how many wait to be hashed. */
  private to = 0;
  private pending = 0;
  private pairs = false;
  private count = 0;
  /** The array that the last key came from, and a view on it: callers reuse theirs. */
  private source: Uint8Array = NO_BYTES;
  private sourceView = NO_VIEW;

  constructor(hash: KeyHash, kernel: FilterKernel) {
    this.hash = hash;
    this.kernel = kernel;
  }

  addKey(bytes: Uint8Array, start: number, end: number): void {
    if (!this.copyKey(bytes, start, end)) this.addElsewhere(bytes, start, end, ALONE);
    else this.roles[this.pending - 1] = ALONE;
  }

  addKeyAndPrefix(bytes: Uint8Array, start: number, prefixEnd: number, end: number): void {
    this.addWithRole(bytes, start, prefixEnd, PREFIX);
    this.addWithRole(bytes, start, end, KEY_OF_PREFIX);
  }

  addHash(lo: number, hi: number): void {
    this.settle();
    this.enter(lo, hi, ALONE);
  }

  get entries(): number {
    this.settle();
    return this.count;
  }

  hasEntries(count: number): boolean {
    if (this.count >= count) return true;
    // The prefix of the first that waits may have been hashed with the batch before: it counts once its key does.
    return this.count + this.pending + 1 >= count && this.entries >= count;
  }

  get hashes(): Uint32Array {
    const { entries } = this;
    return this.memory === undefined ? new Uint32Array(0) : this.memory.hashWords(2 * entries);
  }

  get firstHigh(): number {
    return this.entries === 0 ? 0 : this.memory!.hashWords(2)[1]!;
  }

  fillBloom(dataBytes: number, probes: number): Uint8Array {
    const { entries } = this;
    const out = this.room(dataBytes);
    if (out === undefined) return fillFastLocalBloom(this.hashes, entries, dataBytes, probes);
    this.memory!.exports.fillBloom(entries, out, dataBytes / LINE_BYTES, probes);
    const filter = this.copyOut(out, dataBytes);
    writeBloomMetadata(filter, dataBytes, probes);
    return filter;
  }

  solveRibbon(slots: number, dataBytes: number): Uint8Array | undefined {
    const { entries } = this;
    const rows = this.room(slots * (SEGMENT_BYTES + 4) + dataBytes);
    if (rows === undefined) return solveRibbon(this.hashes, entries, slots, dataBytes);
    const { exports } = this.memory!;
    const results = rows + slots * SEGMENT_BYTES;
    const out = results + slots * 4;
    const seed = firstSolvable(
      this.hashes[0]!,
      (each) => exports.enterEquations(entries, rows, results, slots, ribbonRawSeed(each)) === 1,
    );
    if (seed === undefined) return undefined;
    const blocks = slots / RIBBON_ROW_BITS;
    const { columns, shortBlocks } = ribbonLayout(dataBytes, blocks);
    exports.substituteBack(rows, results, out, blocks, columns, shortBlocks);
    const filter = this.copyOut(out, dataBytes);
    writeRibbonMetadata(filter, dataBytes, seed, slots);
    return filter;
  }

  reset(): void {
    if (this.memory !== undefined) this.kernel.giveBack(this.memory);
    this.memory = undefined;
    // No key goes anywhere before a memory is there.
    this.to = 0;
    this.keysEnd = 0;
    this.view = NO_VIEW;
    this.pending = 0;
    this.pairs = false;
    this.count = 0;
    this.source = NO_BYTES;
    this.sourceView = NO_VIEW;
  }

  private addWithRole(bytes: Uint8Array, start: number, end: number, role: number): void {
    if (!this.copyKey(bytes, start, end)) this.addElsewhere(bytes, start, end, role);
    else this.roles[this.pending - 1] = role;
    // At the end: a batch that was full was hashed meanwhile.
    this.pairs = true;
  }

  /**
   * Puts a key behind those that wait; false where it cannot go there as words, 20 bytes in 5 ns (`set` takes 40 at any
   * length, Node 20). Numbers stand in the loop: a constant of the module is a variable in the bundle.
   */
  private copyKey(bytes: Uint8Array, start: number, end: number): boolean {
    let { to } = this;
    const length = end - start;
    const toEnd = to + length;
    if (toEnd > this.keysEnd || this.pending === this.keysMax) return false;
    if (length < 4 || length > 96 || bytes !== this.source) return false;
    const { view, sourceView } = this;
    let from = start;
    for (; from + 4 <= end; from += 4, to += 4) view.setInt32(to, sourceView.getInt32(from, true), true);
    // The last word overlaps the one before it.
    if (from < end) view.setInt32(toEnd - 4, sourceView.getInt32(end - 4, true), true);
    this.ends[this.pending++] = toEnd;
    this.to = toEnd;
    return true;
  }

  /** A key that is very short or long, or from another array than the last, or for which there is no room yet. */
  private addElsewhere(bytes: Uint8Array, start: number, end: number, role: number): void {
    if (bytes !== this.source) {
      this.source = bytes;
      this.sourceView = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    if (this.memory === undefined) this.openMemory();
    const length = end - start;
    if (this.to + length > this.keysEnd || this.pending === this.keysMax) this.settle();
    if (length > this.keysEnd - this.to) {
      const lo = this.hash.xxph3(bytes, start, end);
      this.enter(lo, this.hash.high(), role);
      return;
    }
    if (this.copyKey(bytes, start, end)) {
      this.roles[this.pending - 1] = role;
      return;
    }
    this.memory!.bytes.set(bytes.subarray(start, end), this.to);
    this.to += length;
    this.ends[this.pending] = this.to;
    this.roles[this.pending++] = role;
  }

  /** Hashes what waits. */
  private settle(): void {
    const { pending } = this;
    if (pending === 0) return;
    const memory = this.reserveHashes(pending);
    const { addKeys, addKeysAndPrefixes } = memory.exports;
    this.count = this.pairs ? addKeysAndPrefixes(pending, this.count) : addKeys(pending, this.count);
    this.pending = 0;
    this.pairs = false;
    this.to = memory.keysStart;
  }

  private enter(lo: number, hi: number, role: number): void {
    this.count = this.reserveHashes(1).exports.addHash(lo, hi, role, this.count);
  }

  /** There is one place more than hashes: a repetition is written, too. A key with its prefix counts as two. */
  private reserveHashes(more: number): FilterMemory {
    const memory = this.memory ?? this.openMemory();
    const end = this.hashesEnd(memory) + HASH_BYTES * (more + 2);
    if (end <= memory.bytes.length) return memory;
    if (this.enlarge(memory, end)) return this.memory!;
    throw new RangeError(`there is no memory for a filter of ${this.count} keys`);
  }

  /** Where `length` bytes are free behind the hashes, at a multiple of 64; undefined where there is no room. */
  private room(length: number): number | undefined {
    const memory = this.memory ?? this.openMemory();
    const start = Math.ceil(this.hashesEnd(memory) / LINE_BYTES) * LINE_BYTES;
    const end = start + length;
    return end <= memory.bytes.length || this.enlarge(memory, end) ? start : undefined;
  }

  /** Takes all to a memory of `bytes` bytes and some more; false where there is none. */
  private enlarge(old: FilterMemory, bytes: number): boolean {
    const wanted = [8 * this.hashesEnd(old), 2 * this.hashesEnd(old), bytes];
    let memory: FilterMemory | undefined;
    for (const each of wanted) memory ??= this.kernel.open(Math.max(each, bytes));
    if (memory === undefined) return false;
    memory.copyFrom(old, this.hashesEnd(old));
    this.attach(memory);
    this.kernel.giveBack(old);
    return true;
  }

  private openMemory(): FilterMemory {
    const memory = this.kernel.open(MEMORY_BYTES) ?? this.kernel.open(MEMORY_BYTES_MIN);
    if (memory === undefined) throw new RangeError('there is no memory for a filter');
    this.attach(memory);
    this.to = memory.keysStart;
    return memory;
  }

  private attach(memory: FilterMemory): void {
    this.memory = memory;
    this.view = memory.view;
    this.ends = memory.ends;
    this.roles = memory.roles;
    this.keysEnd = memory.keysEnd;
    this.keysMax = memory.ends.length;
  }

  private hashesEnd(memory: FilterMemory): number {
    return memory.hashesStart + HASH_BYTES * this.count;
  }

  private copyOut(out: number, dataBytes: number): Uint8Array {
    const filter = new Uint8Array(dataBytes + FILTER_METADATA_BYTES);
    filter.set(this.memory!.bytes.subarray(out, out + dataBytes));
    return filter;
  }
}
