import { SstError, withPending } from '../../errors.ts';
import { type FilterUse, filterUse } from '../../format/filter/filter-use.ts';
import { openTableFilter } from '../../format/filter/table-filter.ts';
import { TRAILER_SIZE } from '../../format/internal-key.ts';
import type { TableReader } from '../../format/table-reader.ts';
import type { KeyHash } from '../../hash/key-hash.ts';
import { FilterAudit, type FilterDenials } from '../filter-audit.ts';
import type { FindingLog } from './finding-log.ts';
import { keyText } from './key-text.ts';

/**
 * Asks the table's filter for each key that the walk over the data blocks meets, and for its prefix where the file's
 * extractor is one of RocksDB's own: a filter that denies one of them hides it from every lookup.
 */
export class FilterCheck {
  private readonly suffix: number;

  private constructor(
    table: TableReader,
    private readonly use: FilterUse,
    private readonly audit: FilterAudit,
    private readonly blockType: 'filter' | 'filter_partition',
  ) {
    this.suffix = TRAILER_SIZE + table.storedTimestampSize;
  }

  /** Undefined where there is nothing to ask, or nobody can say what to ask; the log has the reason. */
  static async open(table: TableReader, hash: KeyHash, log: FindingLog): Promise<FilterCheck | undefined> {
    // Without properties it is not known whether keys or prefixes are in it.
    if (table.properties === undefined) return undefined;
    try {
      const filter = await withPending(() => openTableFilter(table));
      if (filter === undefined) return undefined;
      if (table.comparator === undefined && table.options.timestampSize === undefined) {
        log.add({
          code: 'filter_not_checked',
          severity: 'note',
          message:
            `the filter was not asked for the keys: comparator ${table.comparatorName ?? '(unknown)'} is not known ` +
            'here, so neither is whether keys end in a timestamp (--comparator, --ts-size)',
        });
        return undefined;
      }
      const blockType = filter.partitions === undefined ? 'filter' : 'filter_partition';
      return new FilterCheck(table, filterUse(table.properties), new FilterAudit(filter, hash), blockType);
    } catch (error) {
      // What is wrong with its blocks has been said.
      if (error instanceof SstError) return undefined;
      throw error;
    }
  }

  /** A point entry with the internal key `key[0, keyLength)`, which has room for trailer and timestamp. */
  entry(key: Uint8Array, keyLength: number): void {
    const { audit, use } = this;
    if (!audit.turnTo(key, keyLength)) return;
    const end = keyLength - this.suffix;
    if (use.wholeKeys) audit.key(key, 0, end);
    const { prefixExtractor } = use;
    if (prefixExtractor === undefined || !prefixExtractor.inDomain(key, 0, end)) return;
    audit.prefix(key, 0, prefixExtractor.prefixEnd(key, 0, end));
  }

  report(log: FindingLog): void {
    this.audit.finish();
    for (const denials of this.audit.denials) {
      const { ordinal, handle, example } = denials;
      log.add({
        code: 'filter_false_negative',
        severity: 'damage',
        message:
          `the filter denies ${denials.exampleIs} ${keyText(example, example.length)}, which the file has: ` +
          `lookups miss ${countText(denials)}`,
        block: { type: this.blockType, ...handle, ordinal },
      });
    }
  }
}

function countText({ keys, prefixes }: FilterDenials): string {
  const parts: string[] = [];
  if (keys > 0) parts.push(keys === 1 ? '1 entry' : `${keys} entries`);
  if (prefixes > 0) parts.push(prefixes === 1 ? '1 prefix' : `${prefixes} prefixes`);
  return parts.join(' and ');
}
