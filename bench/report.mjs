/** Figures as text: Markdown tables, so that a run can be pasted into RESULTS.md. */

/** Columns are padded, all but the first flush right. */
export function markdownTable(head, rows) {
  const widths = head.map((title, i) => Math.max(3, title.length, ...rows.map((row) => row[i].length)));
  const line = (cells) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(' | ')} |`;
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}

export const ms = (value) =>
  Number.isNaN(value) ? 'n/a' : value < 100 ? value.toFixed(1) : value.toFixed(0);
export const mb = (value) => (Number.isNaN(value) ? 'n/a' : value.toFixed(0));
export const times = (value) => (Number.isNaN(value) ? 'n/a' : value.toFixed(2));

/** `2.41 (2.30-2.55)`: the median of the pairs, the least and the largest. */
export function spread({ median, min, max }) {
  return Number.isNaN(median) ? 'n/a' : `${times(median)} (${times(min)}-${times(max)})`;
}

export const verdict = (met) => (met ? 'met' : 'MISSED');
