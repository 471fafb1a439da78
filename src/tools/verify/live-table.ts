import type { BlobIndex } from '../../format/entry-value.ts';
import { TRAILER_SIZE } from '../../format/internal-key.ts';
import type { BlobReferences } from './blob-references.ts';
import type { BoundsCheck } from './bounds-check.ts';
import type { ObservedTable, TableObserver } from './table-observer.ts';

/** Compares a live table, while it is checked, with what the rest of the database says of it. */
export class LiveTableCheck implements TableObserver {
  constructor(
    readonly bounds: BoundsCheck,
    readonly blobs: BlobReferences,
  ) {}

  opened(table: ObservedTable): void {
    this.bounds.opened(table);
  }

  point(key: Uint8Array, length: number): void {
    this.bounds.point(key, length);
  }

  blob(key: Uint8Array, length: number, blob: BlobIndex): void {
    this.blobs.take(key, length - TRAILER_SIZE, blob);
  }

  tombstone(...tombstone: Parameters<TableObserver['tombstone']>): void {
    this.bounds.tombstone(...tombstone);
  }

  seqnos(smallest: number, largest: number): void {
    this.bounds.seqnos(smallest, largest);
  }
}
