import type { MergeOperator } from '../../src/operators/merge-operator.ts';
import type { UserRow } from './fixtures.ts';
import type { JsonRow } from './scan.ts';

/** The user's view of rows: the newest version that no tombstone hides, operands merged. */
export function userView(rows: readonly JsonRow[], operator: MergeOperator | undefined): UserRow[] {
  const tombstones = rows.filter(({ type }) => type === 'range_delete');
  const keys = new Map<string, JsonRow[]>();
  for (const row of rows) {
    if (row.type !== 'range_delete') keys.set(row.key!, [...(keys.get(row.key!) ?? []), row]);
  }
  return [...keys].flatMap(([key, versions]): UserRow[] => {
    const covering = tombstones
      .filter(({ start, end }) => start! <= key && key < end!)
      .reduce((newest, { seqno }) => Math.max(newest, Number(seqno)), -1);
    const operands: Uint8Array[] = [];
    let base: JsonRow | undefined;
    for (const row of versions.sort((a, b) => Number(b.seqno) - Number(a.seqno))) {
      if (Number(row.seqno) < covering) break;
      if (row.type === 'merge') {
        operands.unshift(Buffer.from(row.value!, 'hex'));
        continue;
      }
      if (!row.type.includes('delete')) base = row;
      break;
    }
    if (operands.length > 0) {
      const value = operator!.fullMerge(base && Buffer.from(base.value!, 'hex'), operands);
      return [{ key, value: Buffer.from(value).toString('hex') }];
    }
    if (base === undefined) return [];
    if (base.columns !== undefined) return [{ key, columns: base.columns }];
    return [base.value === undefined ? { key } : { key, value: base.value }];
  });
}
