/** Forward and backward give the same rows, with the same bytes. */

import { describe, expect, it } from 'vitest';
import { fixtures } from '../support/fixtures.ts';
import { scanRows } from '../support/scan.ts';

describe('SQ-02: the way back shows what the way there showed', () => {
  const tables = fixtures().filter(({ format }) => format === 'block-based' || format === 'leveldb');

  it('for every row of every fixture', async () => {
    for (const { path: file, name } of tables) {
      const forward = await scanRows([file]);
      const backward = await scanRows([file], { reverse: true });
      expect(backward.rows.reverse(), name).toEqual(forward.rows);
      expect(backward.damaged).toBe(forward.damaged);
    }
  });

  it('--limit counts from the end', async () => {
    const { path: file } = tables[0]!;
    const { rows } = await scanRows([file]);
    const last = await scanRows([file], { reverse: true, limit: 3 });
    expect(last.rows).toEqual(rows.slice(-3).reverse());
  });
});
