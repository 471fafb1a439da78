import type { Finding } from '../tools/finding.ts';
import { type BytesMode, formatKey } from './key-format.ts';

/** `000012.sst: data block 3 at 4096 (size 3987): crc32c mismatch, stored ..., computed ...; lost: after a, before c`. */
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
    const after = lost.after === null ? 'the beginning' : `after ${formatKey(lost.after, bytes)}`;
    const before = lost.before === null ? 'the end' : `before ${formatKey(lost.before, bytes)}`;
    text += `; entries may be lost from ${after} to ${before}`;
    if (lost.entries !== null) text += ` (${lost.entries})`;
  }
  return text;
}
