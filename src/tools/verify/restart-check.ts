import { readFixed32 } from '../../bytes/fixed.ts';
import type { BlockLayout } from '../../format/block/block-layout.ts';

/**
 * Checks the restarts of a block while its entries are walked: they ascend from 0, each is the start of an entry
 * that shares nothing with the key before it. Readers search by them; a walk from the first entry does not show
 * what is wrong with them.
 */
export class RestartCheck {
  private data: Uint8Array = new Uint8Array(0);
  private start = 0;
  private count = 0;
  private entriesEnd = 0;
  private next = 0;
  private nextAt = 0;
  private entries = 0;

  /** The first thing that was wrong with the block at hand; empty when nothing was. */
  fault = '';

  reset(data: Uint8Array, layout: BlockLayout): void {
    this.data = data;
    this.start = layout.restartsStart;
    this.count = layout.restartCount;
    this.entriesEnd = layout.entriesEnd;
    this.next = 0;
    this.entries = 0;
    this.fault = '';
    this.nextAt = this.count > 0 ? readFixed32(data, this.start) : Number.POSITIVE_INFINITY;
    if (this.count > 0 && this.nextAt !== 0)
      this.complain(`begins at ${this.nextAt}, not at the first entry`);
  }

  /** An entry begins at `position`; called for each, in order. */
  entry(position: number): void {
    this.entries++;
    if (position < this.nextAt) return;
    if (position > this.nextAt) this.complain(`is at ${this.nextAt}, where no entry begins`);
    else if (this.data[position] !== 0)
      this.complain(`is at ${position}, at an entry that shares a key before it`);
    this.advance();
  }

  /** No entry follows. */
  end(): void {
    if (this.count === 0 && this.entries > 0 && this.fault === '')
      this.fault = 'the block has entries and no restart';
    // An empty block has the restart 0, or none.
    if (this.entries === 0 && this.count === 1 && this.nextAt === 0) return;
    if (this.next < this.count) this.complain(`is at ${this.nextAt}, the entries end at ${this.entriesEnd}`);
  }

  private advance(): void {
    const before = this.nextAt;
    this.next++;
    if (this.next >= this.count) {
      this.nextAt = Number.POSITIVE_INFINITY;
      return;
    }
    this.nextAt = readFixed32(this.data, this.start + 4 * this.next);
    if (this.nextAt <= before) this.complain(`is at ${this.nextAt}, not behind the one at ${before}`);
  }

  private complain(what: string): void {
    if (this.fault === '') this.fault = `restart ${this.next} of ${this.count} ${what}`;
  }
}
