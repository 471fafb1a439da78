import { CorruptionError, type SstError, UnsupportedError } from '../../errors.ts';
import type { Finding } from '../finding.ts';

/** What an input has lost: user keys between which entries, or range tombstones, may be missing. */
export interface Hole {
  readonly path: string;
  readonly offset: number | null;
  readonly size: number | null;
  readonly code: string;
  readonly after: Uint8Array | null;
  readonly before: Uint8Array | null;
  readonly entries: number | null;
  /** What is missing are range tombstones: they hid keys of other files as well. */
  readonly lostTombstones: boolean;
}

/** Undefined for a fault that cost no entries. */
export function holeOf(path: string, { code, block, lost }: Finding): Hole | undefined {
  if (lost === undefined) return undefined;
  return {
    path,
    offset: block?.offset ?? null,
    size: block?.size ?? null,
    code,
    after: lost.after,
    before: lost.before,
    entries: lost.entries,
    lostTombstones: block?.type === 'range_del',
  };
}

/** The refusal of inputs that are not whole, where nobody asked to save what is left. Nothing was written. */
export function damagedInputs(path: string, findings: readonly Finding[]): SstError {
  const found = findings.find(({ code }) => code !== 'unsupported') ?? findings[0]!;
  const reason =
    `${found.message}: nothing was written; ` +
    `--salvage takes what is left of the inputs, and reports what is lost`;
  if (found.code === 'unsupported') return new UnsupportedError('input', path, reason, { file: path });
  const { block } = found;
  return new CorruptionError(found.code, reason, {
    file: path,
    ...(block === undefined ? {} : { offset: block.offset, blockType: block.type }),
  });
}

/** What a hole means, in one line. */
export function holeWarning({ path, after, before, lostTombstones }: Hole): string {
  const place = (key: Uint8Array | null, end: string): string => (key === null ? end : hexOrText(key));
  // Versions of the two keys themselves may have lain between.
  const range = `from ${place(after, 'the beginning')} to ${place(before, 'the end')}`;
  const what = lostTombstones ? 'range tombstones are' : 'entries may be';
  return `${path}: ${what} lost ${range}: older versions and deleted keys of that range may be visible again`;
}

function hexOrText(key: Uint8Array): string {
  let text = '';
  for (const byte of key) {
    if (byte === 0x5c) text += '\\\\';
    else if (byte >= 0x20 && byte <= 0x7e) text += String.fromCharCode(byte);
    else text += `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return text;
}
