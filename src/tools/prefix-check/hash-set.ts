/** A set of 64-bit hashes: 16 bytes or less for each, and no objects. */
export class HashSet64 {
  count = 0;
  private slots = new Uint32Array(2 * 1024);

  /** True where it was not there before. Halves as uint32. */
  add(lo: number, hi: number): boolean {
    // Zero marks an empty slot; that one hash in 2^64 shares its place with another does no harm.
    if (lo === 0 && hi === 0) lo = 1;
    if (4 * this.count >= this.slots.length) this.grow();
    const at = find(this.slots, lo, hi);
    if (this.slots[at] !== 0 || this.slots[at + 1] !== 0) return false;
    this.slots[at] = lo;
    this.slots[at + 1] = hi;
    this.count++;
    return true;
  }

  private grow(): void {
    const larger = new Uint32Array(2 * this.slots.length);
    for (let i = 0; i < this.slots.length; i += 2) {
      const lo = this.slots[i]!;
      const hi = this.slots[i + 1]!;
      if (lo === 0 && hi === 0) continue;
      const at = find(larger, lo, hi);
      larger[at] = lo;
      larger[at + 1] = hi;
    }
    this.slots = larger;
  }
}

/** The slot of the hash, or the empty one where it belongs. */
function find(slots: Uint32Array, lo: number, hi: number): number {
  const mask = slots.length / 2 - 1;
  for (let slot = lo & mask; ; slot = (slot + 1) & mask) {
    const at = 2 * slot;
    if ((slots[at] === lo && slots[at + 1] === hi) || (slots[at] === 0 && slots[at + 1] === 0)) return at;
  }
}
