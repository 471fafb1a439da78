import { SstError } from '../../errors.ts';
import { TRAILER_SIZE, trailerType } from '../../format/internal-key.ts';
import type { PlainTable } from '../../format/plain/plain-table.ts';
import type { PlainTableIterator } from '../../format/plain/plain-table-iterator.ts';
import { entryTypeName, isPointType } from '../../format/value-type.ts';
import { bytewiseComparator, comparatorByName } from '../../operators/comparator.ts';
import { type Finding, findingOf } from '../finding.ts';
import { EntryTotals } from './entry-totals.ts';
import type { FindingLog } from './finding-log.ts';
import { KeyOrder } from './key-order.ts';
import { keyText } from './key-text.ts';
import { checkProperties, countedEntries } from './property-check.ts';
import type { TableCounts, VerifyTableOptions } from './verify-options.ts';

/** A look at the clock a row would cost more than the row. */
const ROWS_PER_ADVANCE = 1024;

/** Checks the rows of a plain table, which has no blocks and no checksums: structure, order and counts. */
export function verifyPlainTable(
  plain: PlainTable,
  findings: readonly Finding[],
  options: VerifyTableOptions,
  log: FindingLog,
  advanced: (offset: number) => void,
): TableCounts {
  for (const finding of findings) log.add(finding);
  log.add({
    code: 'checksums_absent',
    severity: 'note',
    message:
      'a plain table has no checksums: only its structure can be checked, damage inside of values goes unseen',
  });
  const totals = new EntryTotals();
  const counts = { blocks: 1 + (plain.metaindex?.length ?? 0), entries: 0 };
  if (log.stopped || options.checksumsOnly) return counts;
  const name = options.comparator?.name ?? plain.properties?.get('rocksdb.comparator');
  // Plain tables rarely name their comparator: the usual one is assumed, and what contradicts it is no damage.
  const assumed = name === undefined;
  const comparator = assumed ? bytewiseComparator : (options.comparator ?? comparatorByName(name));
  let order = options.order !== false && comparator !== undefined ? new KeyOrder(comparator) : undefined;
  if (options.order !== false && comparator === undefined) {
    log.add({
      code: 'order_not_checked',
      severity: 'note',
      message: `the order of keys was not checked: comparator ${name} is not known here (--comparator)`,
    });
  }

  const { observer } = options;
  observer?.opened({
    comparatorName: plain.properties?.get('rocksdb.comparator'),
    order: options.order === false ? undefined : comparator,
    timestampSize: options.timestampSize ?? comparator?.timestampSize ?? 0,
    isExternal: false,
  });
  let complete = true;
  let rows: PlainTableIterator | undefined;
  try {
    rows = plain.rows();
    while (!log.stopped && rows.next()) {
      const { key, keyLength, entryOffset } = rows;
      const type = trailerType(key, keyLength);
      const place = { type: 'data', offset: entryOffset, size: 0, ordinal: null } as const;
      if (!isPointType(type)) {
        const message = `row ${rows.count - 1} has type ${entryTypeName(type)}, which no table holds`;
        log.add({ code: 'entry_malformed', severity: 'damage', message, block: place });
      }
      const relation = order?.next(key, keyLength) ?? 'after';
      if (relation !== 'after') {
        const how =
          relation === 'before' ? 'belongs before the row in front of it' : 'repeats the row in front of it';
        const what = `row ${rows.count - 1}, key ${keyText(key, keyLength)}, ${how}`;
        log.add({
          code: 'key_order',
          severity: assumed || relation === 'same_seqno' ? 'warning' : 'damage',
          message: assumed
            ? `in bytewise order, as the file names no comparator (--comparator): ${what}`
            : what,
          block: place,
        });
        if (assumed) order = undefined;
      }
      totals.add(key, keyLength, type, rows.valueEnd - rows.valueStart);
      if (observer !== undefined && totals.entries === 1) observer.point(key, keyLength);
      if (rows.count % ROWS_PER_ADVANCE === 0) advanced(rows.entryOffset);
    }
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    complete = false;
    const finding = findingOf(error);
    const counted = countedEntries(plain.properties);
    finding.lost = {
      // A row that cannot be read leaves the key of the one before.
      after:
        rows === undefined || totals.entries === 0 ? null : rows.key.slice(0, rows.keyLength - TRAILER_SIZE),
      before: null,
      entries: counted === undefined ? null : Math.max(0, counted - totals.entries),
    };
    log.add(finding);
  }
  counts.entries = totals.entries;
  if (observer !== undefined && rows !== undefined && totals.entries > 0) {
    observer.point(rows.key, rows.keyLength);
    observer.seqnos(totals.smallestSeqno, totals.largestSeqno);
  }
  if (plain.properties === undefined || log.stopped) return counts;
  checkProperties(
    plain.properties,
    {
      points: complete ? totals : undefined,
      tombstones: new EntryTotals(),
      dataBlocks: undefined,
      dataEnd: undefined,
      tailStart: 0,
      hasDictionary: false,
      strippedTimestampSize: 0,
      indexPartitions: undefined,
      filterBytes: undefined,
      compressionCounts: new Uint32Array(256),
      formatVersion: plain.footer.formatVersion,
    },
    undefined,
    log,
  );
  return counts;
}
