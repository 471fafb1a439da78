/** What assembly/filters.ts exports: building filters. Addresses are of the memory that the instance has. */
export interface FilterKernelExports {
  readonly KEYS: { readonly value: number };
  readonly KEYS_BYTES: { readonly value: number };
  readonly ENDS: { readonly value: number };
  readonly KEYS_MAX: { readonly value: number };
  readonly ROLES: { readonly value: number };
  readonly HASHES: { readonly value: number };
  resetKeys(): void;
  addKeys(pending: number, count: number): number;
  addKeysAndPrefixes(pending: number, count: number): number;
  addHash(lo: number, hi: number, role: number, count: number): number;
  fillBloom(count: number, out: number, lines: number, probes: number): void;
  fillLegacyBloom(count: number, out: number, lines: number, probes: number): void;
  enterEquations(count: number, rows: number, results: number, slots: number, rawSeed: number): number;
  substituteBack(
    rows: number,
    results: number,
    out: number,
    blocks: number,
    columns: number,
    shortBlocks: number,
  ): void;
}

/** Makes an instance of the module, with a memory of its own of so many pages of 64 KiB. */
export type OpenFilterModule = (pages: number) => { buffer: ArrayBuffer; exports: FilterKernelExports };

const PAGE_BYTES = 64 * 1024;
const PAGES_MAX = 65_536;

/** What lies before the hashes: static data and the batch of keys. HASHES of assembly/filter-memory.ts. */
const FIXED_BYTES = 0x16000;

/** Larger memories are not kept for the next filter. */
const KEPT_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The kernel that builds filters: each filter under construction has a memory. It is compiled when the first one is
 * opened. To open one takes some milliseconds, so that one that was given back is kept.
 */
export class FilterKernel {
  private kept: FilterMemory | undefined;

  constructor(readonly openModule: OpenFilterModule) {}

  /** A memory with room for `bytes` bytes of hashes and what belongs behind them. */
  openBehind(bytes: number): FilterMemory | undefined {
    return this.open(FIXED_BYTES + bytes);
  }

  /** Undefined where the machine, or WebAssembly with its 4 GiB, has no room for `bytes`. */
  open(bytes: number): FilterMemory | undefined {
    const { kept } = this;
    if (kept !== undefined && kept.bytes.length >= bytes) {
      this.kept = undefined;
      return kept;
    }
    const pages = Math.ceil(bytes / PAGE_BYTES);
    if (pages > PAGES_MAX) return undefined;
    try {
      const { buffer, exports } = this.openModule(pages);
      return new FilterMemory(buffer, exports);
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  /** Takes back what `open` gave: its user is done with it. */
  giveBack(memory: FilterMemory): void {
    if (memory.bytes.length > KEPT_BYTES_MAX || memory.bytes.length <= (this.kept?.bytes.length ?? 0)) return;
    memory.exports.resetKeys();
    this.kept = memory;
  }
}

/**
 * The memory of one filter under construction, and the functions that work on it: keys of a batch, all hashes, and
 * behind the hashes what the caller puts there. Its size is fixed: whoever needs more opens a larger one, and takes
 * what is in the old one along with `copyFrom`.
 */
export class FilterMemory {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Ends of the batch's keys, as addresses, and what each of them is. */
  readonly ends: Uint32Array;
  readonly roles: Uint8Array;
  readonly keysStart: number;
  readonly keysEnd: number;
  readonly hashesStart: number;

  constructor(
    buffer: ArrayBuffer,
    readonly exports: FilterKernelExports,
  ) {
    const keysMax = exports.KEYS_MAX.value;
    this.bytes = new Uint8Array(buffer);
    this.view = new DataView(buffer);
    this.ends = new Uint32Array(buffer, exports.ENDS.value, keysMax);
    this.roles = new Uint8Array(buffer, exports.ROLES.value, keysMax);
    this.keysStart = exports.KEYS.value;
    this.keysEnd = this.keysStart + exports.KEYS_BYTES.value;
    this.hashesStart = exports.HASHES.value;
  }

  /** Takes over the first `length` bytes of another memory: its state, its keys, its hashes. */
  copyFrom(other: FilterMemory, length: number): void {
    this.bytes.set(other.bytes.subarray(0, length));
  }

  /** The first `count` 32-bit words of the hashes, shared with the memory. */
  hashWords(count: number): Uint32Array {
    return new Uint32Array(this.bytes.buffer, this.hashesStart, count);
  }
}
