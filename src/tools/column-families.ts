import type { Environment } from '../engine/environment.ts';
import { SstError, withPending } from '../errors.ts';
import { readFooter } from '../format/footer.ts';
import { openPlainTable } from '../format/plain/plain-table.ts';
import { openTableAt } from '../format/table-reader.ts';
import type { OpenInput } from './input.ts';

/** What a table without a family name belongs to: LevelDB's, and those written before families had names. */
export const DEFAULT_COLUMN_FAMILY = 'default';

/** The column family that a table's properties name; the default one where they cannot be read. */
export async function columnFamilyOf(environment: Environment, { source }: OpenInput): Promise<string> {
  try {
    const footer = readFooter(source, environment.hashes);
    const { properties } =
      footer.format === 'plain'
        ? openPlainTable(source, footer)
        : await withPending(() => openTableAt(source, footer, environment));
    return properties?.get('rocksdb.column.family.name') || DEFAULT_COLUMN_FAMILY;
  } catch (error) {
    if (error instanceof SstError) return DEFAULT_COLUMN_FAMILY;
    throw error;
  }
}
