import { toHex } from '../../bytes/text.ts';
import type { Environment } from '../../engine/environment.ts';
import { SstError, withPending } from '../../errors.ts';
import { ExitStatus, worstStatus } from '../../exit-status.ts';
import { type Comparator, comparatorByName } from '../../operators/comparator.ts';
import { type Finding, findingOf, type LostRange } from '../../tools/finding.ts';
import type { KeyFilter } from '../../tools/key-range.ts';
import { walkEntries } from '../../tools/walk-entries.ts';
import type { Compat } from './arguments.ts';
import { type DumpFile, placeOfError, placeOfFinding } from './open-dump-file.ts';
import type { RowShape, ScanRows } from './scan-rows.ts';
import { type FaultPlace, findingText } from './status-text.ts';

/** What the entries of a file have in common, and their order. */
export interface DumpShape extends RowShape {
  readonly comparator: Comparator | undefined;
  readonly comparatorName: string | undefined;
}

/** One file at work: what is said of it, and what it means for the exit status. */
export class DumpedFile {
  status: ExitStatus = ExitStatus.ok;
  readonly shape: DumpShape;

  constructor(
    readonly path: string,
    readonly opened: DumpFile,
    private readonly compat: Compat,
    private readonly complain: (text: string) => void,
  ) {
    this.shape = opened.blockTable?.table ?? plainShape(opened);
    for (const { finding, place } of opened.faults) this.report(finding, place);
  }

  get damaged(): boolean {
    return this.status === ExitStatus.damage;
  }

  /** `label` stands between path and status. */
  report(finding: Finding, place: FaultPlace | undefined, label = ''): void {
    if (finding.severity === 'note') return;
    const { path, compat } = this;
    const text = findingText(finding, { path, compat, footer: this.opened.footer }, place);
    this.complain(`${path}${label}: ${text}`);
    if (finding.lost !== undefined) this.complain(`${path}: ${lostText(finding.lost)}`);
    this.raise(finding.severity === 'damage' ? ExitStatus.damage : ExitStatus.unsupported);
  }

  corrupt(reason: string): void {
    this.complain(`${this.path}: Corruption: ${reason}`);
    this.raise(ExitStatus.damage);
  }

  unsupported(reason: string): void {
    this.complain(`${this.path}: Not implemented: ${reason}`);
    this.raise(ExitStatus.unsupported);
  }

  /** A line about one entry. */
  complainOfEntry(text: string): void {
    this.complain(text);
    this.raise(ExitStatus.damage);
  }

  /** Range tombstones are no rows: they are read, so that their damage shows. Undefined when they cannot be. */
  async countRangeTombstones(): Promise<number | undefined> {
    const table = this.opened.blockTable?.table;
    if (table === undefined) return undefined;
    try {
      return (await withPending(() => table.readRangeTombstones())).length;
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      this.report(findingOf(error), placeOfError(error, table));
      return undefined;
    }
  }

  /** Hands the entries to `rows`, past whatever is damaged. */
  async walk(environment: Environment, rows: ScanRows, filter: KeyFilter | undefined): Promise<void> {
    const { blockTable, plain } = this.opened;
    if (blockTable === undefined) {
      if (plain !== undefined) this.walkPlain(() => plain.rows(), rows);
      else this.unsupported('rows of cuckoo tables are not read here');
      return;
    }
    const { table, blocks } = blockTable;
    const [first, end] = filter?.blockRange(table, blocks) ?? [0, blocks.count];
    await walkEntries(
      table,
      blocks,
      environment,
      { first, end },
      {
        entry: (entry) => rows.entry(entry),
        damage: (finding) => this.report(finding, placeOfFinding(finding, table, blocks)),
      },
    );
  }

  private walkPlain(open: () => ReturnType<NonNullable<DumpFile['plain']>['rows']>, rows: ScanRows): void {
    try {
      const entries = open();
      while (entries.next()) if (!rows.entry(entries)) return;
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      this.report(findingOf(error), undefined);
    }
  }

  private raise(status: ExitStatus): void {
    this.status = worstStatus(this.status, status);
  }
}

function plainShape({ properties }: DumpFile): DumpShape {
  const comparatorName = properties?.get('rocksdb.comparator');
  const comparator = comparatorName === undefined ? undefined : comparatorByName(comparatorName);
  const timestampSize = comparator?.timestampSize ?? 0;
  return {
    storedTimestampSize: timestampSize,
    timestampSize,
    timestampsPersisted: true,
    globalSeqno: undefined,
    comparator,
    comparatorName,
  };
}

function lostText({ after, before, entries }: LostRange): string {
  const count = entries === null ? 'entries' : `${entries} entries`;
  const from = after === null ? 'the beginning' : `'${toHex(after).toUpperCase()}'`;
  const to = before === null ? 'the end' : `'${toHex(before).toUpperCase()}'`;
  return `${count} between ${from} and ${to} are lost`;
}
