import { toHex } from '../bytes/text.ts';
import { CorruptionError, type SstError, UnsupportedError } from '../errors.ts';
import type { LoadedBlock } from '../format/block-pipeline.ts';
import type { BlockType } from '../format/block-type.ts';

export type Severity = 'damage' | 'warning' | 'note';

/** What the damage looks like: a hint at its cause. */
export type DamageShape = 'bit_flip' | 'zeros' | 'truncated' | 'foreign' | 'unknown';

/** User keys between which entries are lost; null: from the beginning, or to the end, of the file. */
export interface LostRange {
  after: Uint8Array | null;
  before: Uint8Array | null;
  /** How many entries, where that is known. */
  entries: number | null;
}

/** One thing that is wrong with a file, or worth knowing. `code` is from the list in docs/findings.md. */
export interface Finding {
  code: string;
  severity: Severity;
  message: string;
  block?: {
    type: BlockType;
    offset: number;
    /** Bytes without the trailer. */
    size: number;
    /** Its place among the blocks of its kind, from 0; null where it has none. */
    ordinal: number | null;
  };
  /** Checksums or counts, as texts, where two were compared. */
  stored?: string;
  computed?: string;
  lost?: LostRange;
  shape?: DamageShape;
}

/** A fault that was thrown, as a finding: corruption is damage, what is not supported is a warning. */
export function findingOf(error: SstError, block?: Finding['block']): Finding {
  const finding: Finding = {
    code: error.code,
    severity: error instanceof UnsupportedError ? 'warning' : 'damage',
    message:
      error instanceof CorruptionError || error instanceof UnsupportedError ? error.reason : error.message,
  };
  if (block !== undefined) finding.block = block;
  if (error instanceof CorruptionError) {
    if (error.stored !== undefined) finding.stored = error.stored;
    if (error.computed !== undefined) finding.computed = error.computed;
  }
  return finding;
}

/** Where a data block lies, for a finding about it. */
export function dataBlockOf({ offset, size, ordinal }: LoadedBlock): NonNullable<Finding['block']> {
  return { type: 'data', offset, size, ordinal };
}

/** `lost` in JSON documents: keys in hexadecimal. */
export function lostToJson(lost: LostRange): {
  after: string | null;
  before: string | null;
  entries: number | null;
} {
  return {
    after: lost.after === null ? null : toHex(lost.after),
    before: lost.before === null ? null : toHex(lost.before),
    entries: lost.entries,
  };
}
