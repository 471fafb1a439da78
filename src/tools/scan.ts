import { toHex } from '../bytes/text.ts';
import type { Environment } from '../engine/environment.ts';
import { SstError, withPending } from '../errors.ts';
import { TRAILER_SIZE } from '../format/internal-key.ts';
import type { RangeTombstone } from '../format/range-del-block.ts';
import type { EntrySource } from '../format/table-entry.ts';
import { BlobValues } from './blob-values.ts';
import { type Finding, findingOf } from './finding.ts';
import type { OpenInput } from './input.ts';
import { isWholeRange, KeyFilter, type KeyRange } from './key-range.ts';
import { type OpenedTable, type OpenOptions, openAnyTable } from './open-any-table.ts';
import { Row } from './row.ts';
import { CoverMarker, fragmentRows, fragmentTable } from './table-tombstones.ts';
import { orderedTombstones, TombstoneMerge } from './tombstone-merge.ts';

export interface ScanOptions extends KeyRange, OpenOptions {
  /** Entry types by name; all when left out. */
  readonly types?: ReadonlySet<string>;
  /** Rows, over all files. */
  readonly limit?: number;
  readonly reverse?: boolean;
  /** Range tombstones as fragments, one row for each sequence number. */
  readonly fragmented?: boolean;
  /** Mark each entry that a range tombstone of its own file hides. */
  readonly covered?: boolean;
  /** Look up values in the blob files beside the table. */
  readonly resolveBlobs?: boolean;
  /** Stop a file at its first damage. */
  readonly strict?: boolean;
}

/** Takes the rows; returns nothing, so that the loop around it stays tight. */
export interface RowOutput {
  row(row: Row): void;
}

export interface TableScanEvents {
  finding(finding: Finding): void;
  /** How far in the file the scan has come, in bytes. */
  advanced(offset: number): void;
}

export interface ScanResult {
  rows: number;
  /** Rows may be missing or wrong. */
  damaged: boolean;
  /** Something is in a format that is not read here: its rows are missing, or shown as plain bytes. */
  unsupported: boolean;
}

/**
 * The entries of the table in `input` as rows: point entries in stored order, each range tombstone before the
 * first entry whose user key is not smaller than its start. Goes on behind damage; `events` hears of it.
 * Throws SstError when nothing of the file can be read.
 */
export async function scanTable(
  environment: Environment,
  input: OpenInput,
  options: ScanOptions,
  output: RowOutput,
  events: TableScanEvents,
): Promise<ScanResult> {
  const separators = !isWholeRange(options);
  const table = await openAnyTable(environment, input.source, input.kind, { ...options, separators });
  const scan = new TableScan(table, input.file.path, options, output, events);
  try {
    await scan.run(environment);
  } finally {
    scan.close();
  }
  const { rows, damaged, unsupported } = scan;
  return { rows, damaged, unsupported };
}

class TableScan {
  rows = 0;
  damaged = false;
  unsupported = false;
  private readonly row: Row;
  private marker: CoverMarker | undefined;
  private blobs: BlobValues | undefined;
  private readonly filter: KeyFilter;
  private readonly limit: number;

  constructor(
    private readonly table: OpenedTable,
    path: string,
    private readonly options: ScanOptions,
    private readonly output: RowOutput,
    private readonly events: TableScanEvents,
  ) {
    this.row = new Row(table.shape);
    this.row.file = path;
    this.filter = new KeyFilter(options, table.comparator, table.comparatorName);
    this.limit = options.limit ?? Number.POSITIVE_INFINITY;
  }

  async run(environment: Environment): Promise<void> {
    for (const finding of this.table.findings) this.note(finding);
    if (this.stopped()) return;
    if (this.options.resolveBlobs) {
      this.blobs = await BlobValues.open(environment, directoryOf(this.row.file));
    }
    const stored = await this.tombstones();
    const { reverse = false } = this.options;
    if (this.options.covered) {
      // The newest decides.
      const list = fragmentTable(this.table, stored, 'covered', { newestOnly: true });
      this.marker = new CoverMarker(list, this.table, reverse);
    }
    const merge = this.merge(stored, reverse);
    if (this.stopped()) return;
    await this.table.walk(environment, reverse, this.filter, {
      entry: (entry) => {
        merge.before(entry.key, entry.keyLength);
        this.entry(entry);
        return !this.stopped();
      },
      damage: (finding) => this.note(finding),
      advanced: (offset) => this.events.advanced(offset),
    });
    if (!this.stopped()) merge.rest();
  }

  close(): void {
    this.blobs?.close();
  }

  private merge(stored: readonly RangeTombstone[], reverse: boolean): TombstoneMerge {
    const { storedComparator, shape } = this.table;
    const emit = (tombstone: RangeTombstone): boolean => {
      this.tombstone(tombstone);
      return !this.stopped();
    };
    if (!this.options.fragmented) {
      const ordered = orderedTombstones(stored, storedComparator, reverse);
      return new TombstoneMerge(ordered, storedComparator, TRAILER_SIZE, reverse, emit);
    }
    // A fragment's rows stay together, by sequence number, whatever their timestamps.
    const rows = fragmentRows(fragmentTable(this.table, stored, 'fragmented'), reverse);
    const suffixSize = shape.storedTimestampSize + TRAILER_SIZE;
    return new TombstoneMerge(rows, storedComparator?.withoutTimestamp, suffixSize, reverse, emit);
  }

  private entry(entry: EntrySource): void {
    const { row } = this;
    if (!this.filter.accepts(entry.key, entry.keyLength - 8 - this.table.shape.storedTimestampSize)) return;
    row.takeEntry(entry);
    row.covered = this.marker?.isCovered(entry) ?? false;
    if (row.valueError !== null) this.note(findingOf(row.valueError));
    this.emit();
  }

  /** What cannot be looked up stays a reference. */
  private resolve(blobs: BlobValues): void {
    const { row } = this;
    const references = [row.blob, ...(row.columns ?? []).map((column) => column.blob)];
    for (const blob of references) {
      if (blob === null || blob === undefined || blob.kind === 'inlined_ttl') continue;
      try {
        blob.value = blobs.read(row.key, row.timestampEnd, blob);
      } catch (error) {
        if (!(error instanceof SstError)) throw error;
        const finding = findingOf(error);
        const key = toHex(row.key.subarray(0, row.keyEnd));
        this.note({ ...finding, message: `key ${key}: ${finding.message}` });
      }
    }
  }

  private tombstone(tombstone: RangeTombstone): void {
    const size = this.table.shape.storedTimestampSize;
    const start = tombstone.startKey.subarray(0, tombstone.startKey.length - 8 - size);
    if (!this.filter.overlaps(start, tombstone.end.subarray(0, tombstone.end.length - size))) return;
    this.row.takeTombstone(tombstone);
    this.row.covered = false;
    this.emit();
  }

  private emit(): void {
    const { types } = this.options;
    if (this.rows >= this.limit || (types !== undefined && !types.has(this.row.type))) return;
    this.rows++;
    if (this.blobs !== undefined) this.resolve(this.blobs);
    this.output.row(this.row);
  }

  private note(finding: Finding): void {
    if (finding.severity === 'damage' && !finding.block?.type.startsWith('filter')) this.damaged = true;
    if (finding.code === 'unsupported') this.unsupported = true;
    this.events.finding(finding);
  }

  private stopped(): boolean {
    return this.rows >= this.limit || (this.damaged && this.options.strict === true);
  }

  private async tombstones(): Promise<RangeTombstone[]> {
    try {
      return await withPending(() => this.table.readRangeTombstones());
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      this.note(this.table.lostTombstones(error));
      return [];
    }
  }
}

function directoryOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash === 0 ? '/' : path.slice(0, Math.max(0, slash));
}
