import { type CacheSlots, SlotQueue } from './cache-slots.ts';

/** Decides which entry of a cache goes. It sees only entries that are not pinned. */
export interface EvictionPolicy {
  /** The entry is new, or no longer pinned. */
  add(slot: number): void;
  /** The entry was asked for. */
  hit(slot: number): void;
  /** The entry leaves: it is pinned, or erased. */
  remove(slot: number): void;
  /** The entry that goes next, taken out of the policy's order; -1 when there is none. */
  evict(): number;
}

export type EvictionPolicyName = 'lru' | 's3fifo';

export function openPolicy(
  name: EvictionPolicyName,
  slots: CacheSlots<unknown>,
  capacityBytes: number,
): EvictionPolicy {
  return name === 'lru' ? new LruPolicy(slots) : new S3FifoPolicy(slots, capacityBytes);
}

/** The one that was asked for longest ago. A scan over more than the capacity leaves nothing of what was there. */
class LruPolicy implements EvictionPolicy {
  private readonly queue: SlotQueue;

  constructor(slots: CacheSlots<unknown>) {
    this.queue = new SlotQueue(slots, 0);
  }

  add(slot: number): void {
    this.queue.push(slot);
  }

  hit(slot: number): void {
    if (this.queue.head === slot) return;
    this.queue.remove(slot);
    this.queue.push(slot);
  }

  remove(slot: number): void {
    this.queue.remove(slot);
  }

  evict(): number {
    const slot = this.queue.tail;
    if (slot >= 0) this.queue.remove(slot);
    return slot;
  }
}

const SMALL = 0;
const MAIN = 1;
/** Part of the capacity that new entries pass through. */
const SMALL_SHARE = 0.1;
const HITS_MAX = 3;

/**
 * S3-FIFO: what is new waits in a small queue, and goes from there unless it was asked for again, so that a scan
 * passes through a tenth of the cache. What was asked for goes on to the main queue, where each round costs an
 * entry one of at most three hits. Keys of those that left the small queue are remembered for a while: who comes
 * back in that time goes to the main queue at once. A hit is one store, where LRU relinks its list.
 *
 *   new -> [small] -- asked for --> [main] --> gone
 *             |                       ^  \_ asked for: once more round
 *             v                       |
 *          [ghosts: fingerprints] ----+ came back
 *
 * Source: Yang et al., FIFO Queues are All You Need for Cache Eviction, SOSP 2023.
 */
class S3FifoPolicy implements EvictionPolicy {
  private readonly small: SlotQueue;
  private readonly main: SlotQueue;
  private readonly smallBytes: number;
  private readonly ghosts = new Ghosts();

  constructor(
    private readonly slots: CacheSlots<unknown>,
    capacityBytes: number,
  ) {
    this.small = new SlotQueue(slots, SMALL);
    this.main = new SlotQueue(slots, MAIN);
    this.smallBytes = SMALL_SHARE * capacityBytes;
  }

  add(slot: number): void {
    const returned = this.ghosts.has(this.slots.hash(slot), this.slots.count);
    (returned ? this.main : this.small).push(slot);
  }

  hit(slot: number): void {
    const { hits } = this.slots;
    if (hits[slot]! < HITS_MAX) hits[slot]!++;
  }

  remove(slot: number): void {
    (this.slots.queues[slot] === SMALL ? this.small : this.main).remove(slot);
  }

  /** Each turn takes an entry out of the small queue or a hit from one in the main queue: it ends. */
  evict(): number {
    const { small, main, slots } = this;
    for (;;) {
      if (small.tail >= 0 && (small.bytes > this.smallBytes || main.tail < 0)) {
        const slot = small.tail;
        small.remove(slot);
        if (slots.hits[slot] === 0) {
          this.ghosts.add(slots.hash(slot), slots.count);
          return slot;
        }
        slots.hits[slot] = 0;
        main.push(slot);
      } else {
        const slot = main.tail;
        if (slot < 0) return -1;
        main.remove(slot);
        if (slots.hits[slot] === 0) return slot;
        slots.hits[slot]!--;
        main.push(slot);
      }
    }
  }
}

/**
 * Fingerprints of keys that left lately, each at the one place of its hash: a later one there takes its place. As
 * many count as there are entries, by the number of additions since. A mistake costs one entry a better place.
 */
class Ghosts {
  private prints = new Int32Array(0);
  private times = new Float64Array(0);
  private added = 0;

  add(print: number, limit: number): void {
    if (limit > this.prints.length) this.grow(limit);
    const place = print & (this.prints.length - 1);
    this.prints[place] = print;
    this.times[place] = ++this.added;
  }

  has(print: number, limit: number): boolean {
    if (this.prints.length === 0) return false;
    const place = print & (this.prints.length - 1);
    return this.prints[place] === print && this.times[place]! > this.added - limit && this.times[place]! > 0;
  }

  /** Forgets what it knew: that happens a few times while a cache fills. */
  private grow(limit: number): void {
    const size = 2 ** Math.ceil(Math.log2(Math.max(256, 2 * limit)));
    this.prints = new Int32Array(size);
    this.times = new Float64Array(size);
  }
}
