import type { CompactionSink } from '../../engine/compaction/compaction-iterator.ts';
import { SstError } from '../../errors.ts';
import { decodeBlobIndex } from '../../format/entry-value.ts';
import { trailerType } from '../../format/internal-key.ts';
import { ValueType } from '../../format/value-type.ts';

/** Hands entries on, and remembers which blob files their values lie in. */
export class BlobNotes {
  private readonly fileNumbers = new Set<number>();
  private malformed = 0;

  constructor(private readonly out: Pick<CompactionSink, 'keep'>) {}

  keep(key: Uint8Array, keyLength: number, data: Uint8Array, valueStart: number, valueEnd: number): void {
    if (trailerType(key, keyLength) === ValueType.blobIndex) this.take(data, valueStart, valueEnd);
    this.out.keep(key, keyLength, data, valueStart, valueEnd);
  }

  report(events: { note(text: string): void; warning(text: string): void }): void {
    if (this.malformed > 0) {
      events.warning(`${this.malformed} references to blob files are malformed; they are kept as they are`);
    }
    if (this.fileNumbers.size === 0) return;
    const names = [...this.fileNumbers]
      .sort((a, b) => a - b)
      .map((number) => `${String(number).padStart(6, '0')}.blob`);
    events.note(`values lie in blob files and stay there: ${names.join(', ')} are needed beside the output`);
  }

  private take(data: Uint8Array, valueStart: number, valueEnd: number): void {
    try {
      const blob = decodeBlobIndex(data, valueStart, valueEnd);
      if (blob.kind !== 'inlined_ttl' && blob.fileNumber > 0) this.fileNumbers.add(blob.fileNumber);
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      this.malformed++;
    }
  }
}
