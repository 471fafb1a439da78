const FREE = -1;

/**
 * The entries of a cache as columns, found by file and offset: entry number `slot` has `charges[slot]` and so on.
 * An open-addressed table of slot numbers stands before them. No object is made for an entry but the one that is
 * kept, and a look-up touches three typed arrays.
 */
export class CacheSlots<Value> {
  count = 0;
  files = new Int32Array(MIN_SLOTS);
  offsets = new Float64Array(MIN_SLOTS);
  charges = new Float64Array(MIN_SLOTS);
  /** Number of the kind of block: see `CacheRole`. */
  roles = new Uint8Array(MIN_SLOTS);
  /** How often it is pinned. */
  pins = new Uint16Array(MIN_SLOTS);
  /** For the policy: which queue, and how often it was asked for lately. */
  queues = new Uint8Array(MIN_SLOTS);
  hits = new Uint8Array(MIN_SLOTS);
  /** Neighbours in a queue; the free slots are chained by `next`. */
  next = new Int32Array(MIN_SLOTS);
  previous = new Int32Array(MIN_SLOTS);
  readonly values: (Value | undefined)[] = new Array(MIN_SLOTS).fill(undefined);
  /** Slot + 1 at the place of its hash or behind it; 0 where nothing is. Never more than half full. */
  private table = new Int32Array(2 * MIN_SLOTS);
  private firstFree = 0;

  constructor() {
    this.chainFree(0);
  }

  /** The slot; -1 when there is none. */
  find(file: number, offset: number): number {
    const { table, files, offsets } = this;
    const mask = table.length - 1;
    for (let place = hashOf(file, offset) & mask; ; place = (place + 1) & mask) {
      const slot = table[place]! - 1;
      if (slot < 0 || (offsets[slot] === offset && files[slot] === file)) return slot;
    }
  }

  /** A new slot for a key that is not there. */
  add(file: number, offset: number, value: Value): number {
    if (this.firstFree === FREE) this.grow();
    const slot = this.firstFree;
    this.firstFree = this.next[slot]!;
    this.files[slot] = file;
    this.offsets[slot] = offset;
    this.values[slot] = value;
    this.pins[slot] = 0;
    this.hits[slot] = 0;
    this.count++;
    this.enter(slot);
    return slot;
  }

  /** Takes the slot out of the table, and gives its value to the garbage collection. */
  remove(slot: number): void {
    const { table } = this;
    const mask = table.length - 1;
    let hole = hashOf(this.files[slot]!, this.offsets[slot]!) & mask;
    while (table[hole] !== slot + 1) hole = (hole + 1) & mask;
    // What stands behind the hole moves into it, unless it would come before the place of its hash.
    for (let place = (hole + 1) & mask; table[place] !== 0; place = (place + 1) & mask) {
      const other = table[place]! - 1;
      const home = hashOf(this.files[other]!, this.offsets[other]!) & mask;
      if (((place - home) & mask) < ((place - hole) & mask)) continue;
      table[hole] = other + 1;
      hole = place;
    }
    table[hole] = 0;
    this.values[slot] = undefined;
    this.next[slot] = this.firstFree;
    this.firstFree = slot;
    this.count--;
  }

  /** A fingerprint of the slot's key. */
  hash(slot: number): number {
    return hashOf(this.files[slot]!, this.offsets[slot]!);
  }

  private enter(slot: number): void {
    const mask = this.table.length - 1;
    let place = hashOf(this.files[slot]!, this.offsets[slot]!) & mask;
    while (this.table[place] !== 0) place = (place + 1) & mask;
    this.table[place] = slot + 1;
  }

  private grow(): void {
    const before = this.files.length;
    const size = 2 * before;
    this.files = copied(this.files, new Int32Array(size));
    this.offsets = copied(this.offsets, new Float64Array(size));
    this.charges = copied(this.charges, new Float64Array(size));
    this.roles = copied(this.roles, new Uint8Array(size));
    this.pins = copied(this.pins, new Uint16Array(size));
    this.queues = copied(this.queues, new Uint8Array(size));
    this.hits = copied(this.hits, new Uint8Array(size));
    this.next = copied(this.next, new Int32Array(size));
    this.previous = copied(this.previous, new Int32Array(size));
    for (let slot = before; slot < size; slot++) this.values.push(undefined);
    this.chainFree(before);
    this.table = new Int32Array(2 * size);
    for (let slot = 0; slot < before; slot++) this.enter(slot);
  }

  private chainFree(from: number): void {
    const last = this.next.length - 1;
    for (let slot = from; slot < last; slot++) this.next[slot] = slot + 1;
    this.next[last] = FREE;
    this.firstFree = from;
  }
}

/** A power of two. */
const MIN_SLOTS = 256;

/** Spreads both numbers over 32 bits; offsets are whole and below 2^53. */
function hashOf(file: number, offset: number): number {
  let hash = Math.imul(file, 0x9e3779b1) ^ Math.imul(offset | 0, 0x85ebca77) ^ ((offset / 0x100000000) | 0);
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae3d);
  return hash ^ (hash >>> 13);
}

function copied<T extends Int32Array | Float64Array | Uint8Array | Uint16Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

/** A queue of slots, linked through the columns: taken out anywhere, without a search. */
export class SlotQueue {
  head = FREE;
  tail = FREE;
  bytes = 0;

  constructor(
    private readonly slots: CacheSlots<unknown>,
    /** What `queues` says of its slots. */
    private readonly number: number,
  ) {}

  push(slot: number): void {
    const { next, previous, queues, charges } = this.slots;
    next[slot] = this.head;
    previous[slot] = FREE;
    if (this.head !== FREE) previous[this.head] = slot;
    else this.tail = slot;
    this.head = slot;
    queues[slot] = this.number;
    this.bytes += charges[slot]!;
  }

  remove(slot: number): void {
    const { next, previous, charges } = this.slots;
    const before = previous[slot]!;
    const after = next[slot]!;
    if (before !== FREE) next[before] = after;
    else this.head = after;
    if (after !== FREE) previous[after] = before;
    else this.tail = before;
    this.bytes -= charges[slot]!;
  }
}
