import { mulHighSmall } from '../../bytes/u64.ts';

export interface FilterKeyShape {
  keySize: number;
  /** Keys begin at positions 0 to 3 of their buffer. */
  varyKeyAlignment: boolean;
  /** The same size for 2^n keys, then another; from 30 on all have one. */
  varyKeySizeLog2Interval: number;
}

/** From this interval on sizes do not change. */
const FIXED_SIZE_INTERVAL = 30;
const KEY_SIZE_MIN = 8;

/**
 * Makes the keys of RocksDB's filter_bench, each in the place of the one before: bytes 0 to 3 the key's number, 4 to 7
 * number and filter together, then zeros.
 */
export class KeyMaker {
  readonly bytes: Uint8Array;
  start = 0;
  end = 0;
  private readonly view: DataView;
  private readonly smallest: number;
  private readonly interval: number;
  private readonly alignmentMask: number;

  constructor({ keySize, varyKeyAlignment, varyKeySizeLog2Interval }: FilterKeyShape) {
    const size = Math.max(keySize, KEY_SIZE_MIN);
    this.bytes = new Uint8Array(size + 15);
    this.view = new DataView(this.bytes.buffer);
    this.interval = varyKeySizeLog2Interval;
    this.smallest = size - (varyKeySizeLog2Interval >= FIXED_SIZE_INTERVAL ? 2 : 0);
    this.alignmentMask = varyKeyAlignment ? 3 : 0;
  }

  /** Leaves the key in `bytes[start, end)`. Both numbers are 32 bits, with or without a sign. */
  make(filter: number, number: number): void {
    const { view } = this;
    const start = number & this.alignmentMask;
    let length = this.smallest;
    if (this.interval < FIXED_SIZE_INTERVAL) {
      length += mulHighSmall(Math.imul(number >>> this.interval, 1234567891) >>> 0, 5);
    }
    view.setInt32(start, number, true);
    view.setInt32(start + 4, (filter + number) | 0, true);
    // A key with another alignment may have been here.
    view.setInt32(start + 8, 0, true);
    this.start = start;
    this.end = start + length;
  }
}
