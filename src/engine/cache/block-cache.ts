import { SstError } from '../../errors.ts';
import { CacheSlots } from './cache-slots.ts';
import { type EvictionPolicy, type EvictionPolicyName, openPolicy } from './eviction-policy.ts';

/** What a cached block is for; the charges of each kind are told apart. */
export const CacheRole = { data: 0, index: 1, filter: 2, compressionDict: 3 } as const;
export type CacheRoleName = keyof typeof CacheRole;
const ROLES = Object.keys(CacheRole) as CacheRoleName[];

/** Bytes that an entry takes beside its contents: the columns, the table of slots, the objects around the bytes. */
const ENTRY_OVERHEAD_BYTES = 200;

/** A pin was refused: the cache is strict, and what is pinned takes all of it. */
export class CacheFullError extends SstError {
  constructor(
    readonly capacityBytes: number,
    readonly neededBytes: number,
  ) {
    super(
      'cache_full',
      `a block cache of ${capacityBytes} bytes has no room for ${neededBytes} more that are to be pinned`,
    );
  }
}

export interface BlockCacheOptions {
  /** Bytes, overheads included. 0: nothing is kept. */
  readonly capacityBytes: number;
  /** Default `lru`. `s3fifo` keeps what is asked for often while a scan passes. */
  readonly policy?: EvictionPolicyName;
  /** A pin that does not fit is refused (CacheFullError). Otherwise pins may exceed the capacity. Default false. */
  readonly strictCapacity?: boolean;
}

/**
 * Decoded blocks by file and offset, as many as fit into a number of bytes. Values are objects that their readers
 * never change: a block and its layout, an open filter, a dictionary.
 *
 * An entry that goes is given to the garbage collection; who still holds its value reads on, so look-ups need no
 * reference counts. What is pinned stays until it is unpinned, and counts. There are no shards: these spread locks
 * over threads, and here is one thread.
 */
export class BlockCache<Value = unknown> {
  readonly capacityBytes: number;
  readonly strictCapacity: boolean;
  hits = 0;
  misses = 0;
  insertions = 0;
  evictions = 0;
  /** Entries that did not get in: larger than what pins leave free. */
  refusals = 0;
  /** All entries, and those of them that are pinned. */
  usedBytes = 0;
  pinnedBytes = 0;
  private readonly slots = new CacheSlots<Value>();
  private readonly policy: EvictionPolicy;
  private readonly roleBytes = new Float64Array(ROLES.length);
  private readonly files = new Map<string, number>();
  private nextFile = 0;

  constructor({ capacityBytes, policy = 'lru', strictCapacity = false }: BlockCacheOptions) {
    this.capacityBytes = capacityBytes;
    this.strictCapacity = strictCapacity;
    this.policy = openPolicy(policy, this.slots, capacityBytes);
  }

  get count(): number {
    return this.slots.count;
  }

  /** Bytes of the entries of a kind. */
  bytesOf(role: CacheRoleName): number {
    return this.roleBytes[CacheRole[role]]!;
  }

  /**
   * The number by which blocks of a file are kept. Equal identities mean equal bytes: a path alone is none where
   * files are replaced. A file that is opened again finds its blocks.
   */
  fileNumber(identity: string): number {
    let number = this.files.get(identity);
    if (number === undefined) {
      number = this.nextFile++;
      this.files.set(identity, number);
    }
    return number;
  }

  /** Drops all blocks of a file that are not pinned, and its number: the file is gone. */
  forgetFile(identity: string): void {
    const file = this.files.get(identity);
    if (file === undefined) return;
    this.files.delete(identity);
    const { slots } = this;
    for (let slot = 0; slot < slots.files.length; slot++) {
      if (slots.values[slot] === undefined || slots.files[slot] !== file || slots.pins[slot]! > 0) continue;
      this.policy.remove(slot);
      this.drop(slot);
    }
  }

  get(file: number, offset: number): Value | undefined {
    const slot = this.slots.find(file, offset);
    if (slot < 0) {
      this.misses++;
      return undefined;
    }
    this.hits++;
    if (this.slots.pins[slot] === 0) this.policy.hit(slot);
    return this.slots.values[slot];
  }

  /** Whether it is there, without counting as a use. */
  has(file: number, offset: number): boolean {
    return this.slots.find(file, offset) >= 0;
  }

  /**
   * Keeps a value of `bytes`, in place of one that is there. Entries go until it fits; where pins leave too little
   * room it is refused, and false is the answer.
   */
  insert(file: number, offset: number, value: Value, bytes: number, role: number): boolean {
    const charge = bytes + ENTRY_OVERHEAD_BYTES;
    const old = this.slots.find(file, offset);
    if (old >= 0) {
      if (this.slots.pins[old]! > 0) return true;
      this.policy.remove(old);
      this.drop(old);
    }
    if (charge > this.capacityBytes - this.pinnedBytes) {
      this.refusals++;
      return false;
    }
    this.makeRoom(charge);
    this.policy.add(this.put(file, offset, value, charge, role));
    return true;
  }

  /**
   * Keeps a value until `unpin`. Beyond the capacity a strict cache throws CacheFullError; another one grows.
   */
  pin(file: number, offset: number, value: Value, bytes: number, role: number): void {
    const charge = bytes + ENTRY_OVERHEAD_BYTES;
    const { slots } = this;
    let slot = slots.find(file, offset);
    if (slot >= 0 && slots.pins[slot]! > 0) {
      slots.pins[slot]!++;
      return;
    }
    if (this.strictCapacity && charge > this.capacityBytes - this.pinnedBytes) {
      this.refusals++;
      throw new CacheFullError(this.capacityBytes, charge);
    }
    if (slot >= 0) {
      this.policy.remove(slot);
    } else {
      this.makeRoom(charge);
      slot = this.put(file, offset, value, charge, role);
    }
    slots.pins[slot] = 1;
    this.pinnedBytes += slots.charges[slot]!;
  }

  /** Gives one pin back; the entry stays as long as others do. */
  unpin(file: number, offset: number): void {
    const { slots } = this;
    const slot = slots.find(file, offset);
    if (slot < 0 || slots.pins[slot] === 0) return;
    slots.pins[slot]!--;
    if (slots.pins[slot]! > 0) return;
    this.pinnedBytes -= slots.charges[slot]!;
    this.policy.add(slot);
    this.makeRoom(0);
  }

  private makeRoom(charge: number): void {
    while (this.usedBytes + charge > this.capacityBytes) {
      const slot = this.policy.evict();
      if (slot < 0) return;
      this.evictions++;
      this.drop(slot);
    }
  }

  private put(file: number, offset: number, value: Value, charge: number, role: number): number {
    const slot = this.slots.add(file, offset, value);
    this.slots.charges[slot] = charge;
    this.slots.roles[slot] = role;
    this.usedBytes += charge;
    this.roleBytes[role]! += charge;
    this.insertions++;
    return slot;
  }

  private drop(slot: number): void {
    const charge = this.slots.charges[slot]!;
    this.usedBytes -= charge;
    this.roleBytes[this.slots.roles[slot]!]! -= charge;
    this.slots.remove(slot);
  }
}
