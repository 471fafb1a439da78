import { TRAILER_SIZE } from '../format/internal-key.ts';
import type { RangeTombstone } from '../format/range-del-block.ts';
import { type EntryShape, type EntrySource, entryType, userKeyEnd } from '../format/table-entry.ts';
import { isPointDeletion } from '../format/value-type.ts';
import type { Comparator } from '../operators/comparator.ts';

/** Where a file's tombstones lie, and what they hide. Keys are user keys without timestamps. */
export interface TombstoneDensity {
  /** Point entries and range tombstones, as property `rocksdb.num.entries` counts them. */
  entries: number;
  pointTombstones: number;
  rangeTombstones: number;
  /** The longest row of entries that are all deletions: what a seek has to step over. */
  longestRun: { count: number; first: Uint8Array; last: Uint8Array } | null;
  /** Key and value bytes of entries that a newer entry of the same key, or a range tombstone of the file, hides. */
  shadowedBytes: number;
  /** At most `MAX_REGIONS`, in key order, each of about as many point entries; none without any. */
  regions: DensityRegion[];
}

export interface DensityRegion {
  first: Uint8Array;
  last: Uint8Array;
  /** Range tombstones that begin here count. */
  entries: number;
  pointTombstones: number;
  /** Range tombstones that begin in the region. */
  rangeTombstones: number;
  shadowedBytes: number;
}

/** When there are more, neighbours become one. */
const MAX_REGIONS = 32;

/** Gathers the density while entries pass by in stored order. Bounded memory. */
export class DensityCollector {
  private readonly density: TombstoneDensity;
  private entriesPerRegion = 64;
  private run: { count: number; first: Uint8Array; last: Uint8Array } | undefined;
  private lastKey = new Uint8Array(64);
  private lastKeyLength = -1;

  constructor(private readonly shape: EntryShape) {
    this.density = {
      entries: 0,
      pointTombstones: 0,
      rangeTombstones: 0,
      longestRun: null,
      shadowedBytes: 0,
      regions: [],
    };
  }

  /** `isCovered`: a range tombstone of the file hides the entry. */
  add(entry: EntrySource, isCovered: boolean): void {
    const { density } = this;
    const end = userKeyEnd(entry, this.shape);
    const region = this.regionFor(entry, end);
    const isDeletion = isPointDeletion(entryType(entry));
    density.entries++;
    region.entries++;
    if (isDeletion) {
      density.pointTombstones++;
      region.pointTombstones++;
    }
    this.extendRun(entry, end, isDeletion);
    if (isCovered || this.repeatsKey(entry, end)) {
      const bytes = entry.keyLength + (entry.valueEnd - entry.valueStart);
      density.shadowedBytes += bytes;
      region.shadowedBytes += bytes;
    }
    this.rememberKey(entry, end);
  }

  /** The result; each range tombstone counts in the region where it begins. */
  finish(tombstones: readonly RangeTombstone[], comparator: Comparator): TombstoneDensity {
    const { density } = this;
    density.rangeTombstones = tombstones.length;
    density.entries += tombstones.length;
    this.endRun();
    const last = density.regions.at(-1);
    if (last !== undefined) last.last = this.lastKey.slice(0, this.lastKeyLength);
    const order = comparator.withoutTimestamp.compare;
    for (const { startKey } of tombstones) {
      const end = startKey.length - TRAILER_SIZE - this.shape.storedTimestampSize;
      const behind = density.regions.find(({ last }) => order(startKey, 0, end, last, 0, last.length) <= 0);
      const region = behind ?? density.regions.at(-1);
      if (region === undefined) continue;
      region.entries++;
      region.rangeTombstones++;
    }
    return density;
  }

  private regionFor(entry: EntrySource, end: number): DensityRegion {
    const { regions } = this.density;
    let region = regions.at(-1);
    if (region === undefined || region.entries >= this.entriesPerRegion) {
      if (region !== undefined) region.last = this.lastKey.slice(0, this.lastKeyLength);
      if (regions.length === MAX_REGIONS) this.joinRegions();
      const first = entry.key.slice(0, end);
      region = { first, last: first, entries: 0, pointTombstones: 0, rangeTombstones: 0, shadowedBytes: 0 };
      regions.push(region);
    }
    return region;
  }

  private joinRegions(): void {
    const { regions } = this.density;
    for (let i = 0; i < regions.length / 2; i++) {
      const [a, b] = [regions[2 * i]!, regions[2 * i + 1]!];
      regions[i] = {
        first: a.first,
        last: b.last,
        entries: a.entries + b.entries,
        pointTombstones: a.pointTombstones + b.pointTombstones,
        rangeTombstones: a.rangeTombstones + b.rangeTombstones,
        shadowedBytes: a.shadowedBytes + b.shadowedBytes,
      };
    }
    regions.length /= 2;
    this.entriesPerRegion *= 2;
  }

  private extendRun(entry: EntrySource, end: number, isDeletion: boolean): void {
    if (!isDeletion) {
      this.endRun();
      return;
    }
    this.run ??= { count: 0, first: entry.key.slice(0, end), last: entry.key };
    this.run.count++;
  }

  private endRun(): void {
    const { run, density } = this;
    this.run = undefined;
    if (run === undefined || run.count <= (density.longestRun?.count ?? 0)) return;
    density.longestRun = { ...run, last: this.lastKey.slice(0, this.lastKeyLength) };
  }

  private repeatsKey(entry: EntrySource, end: number): boolean {
    if (end !== this.lastKeyLength) return false;
    for (let i = 0; i < end; i++) if (entry.key[i] !== this.lastKey[i]) return false;
    return true;
  }

  private rememberKey(entry: EntrySource, end: number): void {
    if (end > this.lastKey.length) this.lastKey = new Uint8Array(2 * end);
    for (let i = 0; i < end; i++) this.lastKey[i] = entry.key[i]!;
    this.lastKeyLength = end;
  }
}
