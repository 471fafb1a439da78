import type { EntrySource } from '../../format/table-entry.ts';

/**
 * Entries of one sorted source, taken in batches: `next` never waits. It answers false when the batch is used
 * up; then either `atEnd` is set, or `load` brings the next batch and `next` goes on.
 */
export interface EntryCursor extends EntrySource {
  /** Moves to the next entry of what is loaded. The first call moves to the first entry. */
  next(): boolean;
  /** No entry follows, and nothing is left to load. */
  readonly atEnd: boolean;
  load(): Promise<void>;
}
