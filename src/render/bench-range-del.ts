import type { RangeDelBenchParams } from '../tools/bench/range-del-params.ts';
import type { RangeDelBenchReport, RangeDelBenchResults } from '../tools/bench-range-del.ts';
import type { FileTombstonesReport } from '../tools/bench-range-del-files.ts';
import type { ByteSink } from './sink.ts';
import { writeTable } from './table.ts';

const LABELS: readonly [keyof RangeDelBenchResults, string][] = [
  ['fragmentTombstonesUs', 'Fragment Tombstones:'],
  ['addTombstonesUs', 'AddTombstones:'],
  ['shouldDeleteFirstUs', 'ShouldDelete (first):'],
  ['shouldDeleteRestUs', 'ShouldDelete (rest):'],
];

/** The lines of RocksDB's range_del_aggregator_bench. */
export function writeRangeDelResults(sink: ByteSink, results: RangeDelBenchResults): void {
  const rule = '='.repeat(25);
  sink.writeText(`${rule}\nResults:\n${rule}\n`);
  for (const [name, label] of LABELS) {
    const value = results[name];
    if (value !== null) sink.writeLine(`${label.padEnd(25)}${sixDigits(value)} us`);
  }
}

/** Both reports side by side, with ratios. */
export function writeRangeDelComparison(
  sink: ByteSink,
  lazy: RangeDelBenchReport,
  eager: RangeDelBenchReport,
): void {
  const row = (label: string, early: number, late: number): string[] => [
    label,
    sixDigits(early),
    sixDigits(late),
    (late / early).toFixed(3),
  ];
  const rows = LABELS.filter(([name]) => lazy.results[name] !== null).map(([name, label]) =>
    row(label.replace(/:$/, ''), eager.results[name]!, lazy.results[name]!),
  );
  const [early, late] = [eager, lazy].map(({ spread }) => spread.fragmentTombstonesUs!.median);
  rows.splice(1, 0, row('  median of blocks', early!, late!));
  rows.push(['sets built', String(eager.seqnoSetsBuilt), String(lazy.seqnoSetsBuilt), '']);
  writeTable(
    sink,
    [{ title: 'mean us' }, { title: 'eager set' }, { title: 'lazy set' }, { title: 'lazy/eager' }],
    rows,
  );
}

/** How it was timed: for stderr. */
export function rangeDelNotes(
  report: RangeDelBenchReport,
  params: RangeDelBenchParams,
  compared: boolean,
): string[] {
  const { timing } = report;
  return [
    params.inputOrder === 'key'
      ? "tombstones were put in key order before the clock started, as RocksDB's bench does"
      : 'tombstones came as drawn: sorting them was timed',
    `timed in blocks of ${timing.runsPerBatch} runs after ${timing.warmUpRuns} untimed ones; nothing is subtracted`,
    'lists give their memory back after each block, outside of the clock',
    `one reading of the clock costs ${timing.clockCallNanos.toFixed(0)} ns, two a block`,
    ...(compared
      ? [
          'both sets are built at once and by the same code: the eager one right after its list, inside its time',
        ]
      : []),
    `sets of sequence numbers built: ${report.seqnoSetsBuilt}`,
  ];
}

export function writeFileTombstones(sink: ByteSink, reports: readonly FileTombstonesReport[]): void {
  writeTable(
    sink,
    [
      { title: 'file' },
      { title: 'tombstones' },
      { title: 'fragments' },
      { title: 'widest' },
      { title: 'bytes' },
      { title: 'build us' },
      { title: 'lookup us' },
      { title: 'entries' },
      { title: 'covered' },
      { title: 'iterate us' },
      { title: 'with tombstones us' },
    ],
    reports.map((report) => [
      report.path,
      String(report.tombstones),
      String(report.fragments),
      String(report.widestStack),
      String(report.memoryBytes),
      report.buildUs.toFixed(2),
      report.lookupUs.toFixed(3),
      String(report.entries),
      String(report.coveredEntries),
      report.iterateUs.toFixed(3),
      report.iterateWithTombstonesUs.toFixed(3),
    ]),
  );
}

/** Six significant digits, as a C++ stream prints a double. */
function sixDigits(value: number): string {
  return String(Number(value.toPrecision(6)));
}
