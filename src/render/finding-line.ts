import type { Finding } from '../tools/finding.ts';
import { type BytesMode, formatKey } from './key-format.ts';

/** `000012.sst: data block 3 at 4096 (size 3987): crc32c mismatch, stored ..., computed ...; entries may be lost between a and c`. */
export function findingLine(path: string, finding: Finding, bytes: BytesMode = 'escape'): string {
  const { block, lost, shape } = finding;
  let text = `${path}: `;
  if (block !== undefined) {
    const ordinal = block.ordinal === null ? '' : ` ${block.ordinal}`;
    const kind = block.type === 'footer' ? 'footer' : `${block.type} block${ordinal}`;
    text += `${kind} at ${block.offset} (size ${block.size}): `;
  }
  text += finding.message;
  if (shape !== undefined && shape !== 'unknown') text += ` (looks like: ${shape.replace('_', ' ')})`;
  if (lost !== undefined) {
    const after = lost.after === null ? 'the beginning' : formatKey(lost.after, bytes);
    const before = lost.before === null ? 'the end' : formatKey(lost.before, bytes);
    text += `; entries may be lost between ${after} and ${before}`;
    if (lost.entries !== null) text += ` (${lost.entries})`;
  }
  return text;
}
