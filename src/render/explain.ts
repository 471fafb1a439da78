import type { OffsetMeaning } from '../tools/explain/explain-offset.ts';
import type { Comparison, Explanation, Step } from '../tools/explain/explanation.ts';
import { writeJsonDocument } from './json.ts';
import { type BytesMode, formatKey } from './key-format.ts';
import type { ByteSink } from './sink.ts';
import type { Theme } from './theme.ts';

type ShownKey = Pick<Comparison, 'key' | 'timestamp'>;

/** Comparisons of one step that are shown in text; a search in a large block has a few more. */
const MAX_COMPARISONS = 24;

export function writeExplanations(
  sink: ByteSink,
  explanations: readonly Explanation[],
  theme: Theme,
  bytes: BytesMode,
): void {
  explanations.forEach((explanation, i) => {
    if (i > 0) sink.writeLine('');
    writeExplanation(sink, explanation, theme, bytes);
  });
}

function writeExplanation(sink: ByteSink, explanation: Explanation, theme: Theme, bytes: BytesMode): void {
  const { path, key, steps, verdict } = explanation;
  sink.writeLine(`${theme.heading(path)}: ${theme.key(formatKey(key, bytes))}`);
  steps.forEach((step, i) => {
    sink.writeLine(`${String(i + 1).padStart(2)}. ${theme.label(step.step)}  ${theme.dim(rangeText(step))}`);
    sink.writeLine(`    ${step.text}`);
    const comparisons = step.comparisons ?? [];
    for (const each of comparisons.slice(0, MAX_COMPARISONS)) {
      sink.writeLine(`    ${each.order.padEnd(6)}  ${keyText(each, theme, bytes)}`);
    }
    if (comparisons.length > MAX_COMPARISONS)
      sink.writeLine(`    and ${comparisons.length - MAX_COMPARISONS} more`);
    for (const each of step.entries ?? []) {
      const { offset, seqno, type } = each;
      sink.writeLine(`    entry at ${offset} in the block: ${keyText(each, theme, bytes)} ${seqno} ${type}`);
    }
  });
  const paint =
    verdict.code === 'damage' || verdict.code === 'unsupported'
      ? theme.damage
      : verdict.code === 'found'
        ? theme.ok
        : theme.warning;
  sink.writeLine(`=> ${paint(verdict.code)}: ${verdict.text} (${verdict.bytesRead} bytes read)`);
}

function keyText({ key, timestamp }: ShownKey, theme: Theme, bytes: BytesMode): string {
  const text = theme.key(formatKey(key, bytes));
  return timestamp.length === 0 ? text : `${text} timestamp=${formatKey(timestamp, 'hex')}`;
}

function keyFields({ key, timestamp }: ShownKey, bytes: BytesMode): object {
  return { key: formatKey(key, bytes), ...(timestamp.length === 0 ? {} : { timestamp }) };
}

function rangeText({ range }: Step): string {
  if (range === undefined) return '';
  const { offset, size, compression, rawSize, checksumHolds } = range;
  const parts = [`bytes ${offset} to ${offset + size - 1} (${size})`];
  if (compression !== null && compression !== 'none')
    parts.push(`${compression}, ${rawSize ?? '?'} uncompressed`);
  if (checksumHolds !== null) parts.push(checksumHolds ? 'checksum holds' : 'CHECKSUM DOES NOT HOLD');
  return parts.join(', ');
}

export function writeExplanationsJson(
  sink: ByteSink,
  explanations: readonly Explanation[],
  bytes: BytesMode,
): void {
  writeJsonDocument(sink, {
    schema: 1,
    tables: explanations.map(({ path, key, steps, verdict }) => ({
      path,
      key: formatKey(key, bytes),
      steps: steps.map(({ comparisons, entries, ...step }) => ({
        ...step,
        ...(comparisons === undefined
          ? {}
          : { comparisons: comparisons.map((each) => ({ ...keyFields(each, bytes), order: each.order })) }),
        ...(entries === undefined
          ? {}
          : {
              entries: entries.map((each) => ({
                offset: each.offset,
                ...keyFields(each, bytes),
                seqno: each.seqno,
                type: each.type,
              })),
            }),
      })),
      verdict,
    })),
  });
}

export function writeOffsetMeaning(
  sink: ByteSink,
  meaning: OffsetMeaning,
  theme: Theme,
  bytes: BytesMode,
): void {
  const { path, offset, byte, block, part, partOffset, partSize, entry, text } = meaning;
  sink.writeLine(`${theme.heading(path)}: byte ${offset}, 0x${byte.toString(16).padStart(2, '0')}`);
  if (block !== null) {
    const name = block.name === null ? '' : ` ${block.name}`;
    sink.writeLine(
      `${theme.label('block')}  ${block.type} ${block.ordinal}${name} at ${block.offset}, ${block.size} bytes`,
    );
  }
  sink.writeLine(
    `${theme.label('part')}   ${part}, bytes ${partOffset} to ${partOffset + partSize - 1}: ${text}`,
  );
  if (entry !== null) {
    const version = entry.seqno === null ? '' : ` ${entry.seqno} ${entry.type}`;
    sink.writeLine(
      `${theme.label('entry')}  at ${entry.offset} in the block: ${theme.key(formatKey(entry.key, bytes))}${version}`,
    );
  }
}

export function writeOffsetMeaningJson(sink: ByteSink, meaning: OffsetMeaning, bytes: BytesMode): void {
  const { entry, ...rest } = meaning;
  writeJsonDocument(sink, {
    schema: 1,
    ...rest,
    entry: entry === null ? null : { ...entry, key: formatKey(entry.key, bytes) },
  });
}
