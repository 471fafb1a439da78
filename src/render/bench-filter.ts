import type { FilterBenchMode } from '../tools/bench/filter-params.ts';
import type { FilterBenchEvents, FilterBenchPhase, FilterReaderComparison } from '../tools/bench-filter.ts';
import type { FileFilterReport } from '../tools/bench-filter-files.ts';
import type { ByteSink } from './sink.ts';
import { writeTable } from './table.ts';

const MODE_TITLES: Readonly<Record<FilterBenchMode, string>> = {
  single: 'Single filter',
  batch_prepared: 'Batched, prepared',
  batch_unprepared: 'Batched, unprepared',
  fifty_one: 'Skewed 50% in 1%',
  eighty_twenty: 'Skewed 80% in 20%',
  random: 'Random filter',
};

const PHASE_TITLES: Readonly<Record<FilterBenchPhase, string>> = {
  mixed: 'Mixed inside/outside queries...',
  inside: 'Inside queries (mostly)...',
  outside: 'Outside queries (mostly)...',
};

const RULE = '-'.repeat(28);
const MIB = 1024 * 1024;

/** Prints the lines of RocksDB's filter_bench as they come; `flush` is called behind each step. */
export function filterBenchLines(
  sink: ByteSink,
  options: { quick: boolean; bestCase: boolean; flush(): void },
): FilterBenchEvents {
  const line = (text: string): void => {
    sink.writeLine(text);
    options.flush();
  };
  return {
    building: () => line('Building...'),
    built: ({ nsPerKey, filters, bytes, bitsPerKey }) => {
      line(`Build avg ns/key: ${cppDouble(nsPerKey)}`);
      line(`Number of filters: ${filters}`);
      line(`Total size (MB): ${cppDouble(bytes / MIB)}`);
      line(`Bits/key stored: ${cppDouble(bitsPerKey)}`);
    },
    verifying: ({ bestPossibleFpPercent, tolerableFpPercent }) => {
      line(`Best possible FP rate %: ${cppDouble(bestPossibleFpPercent)}`);
      line(`Tolerable FP rate %: ${cppDouble(tolerableFpPercent)}`);
      line(RULE);
      line('Verifying...');
    },
    verified: ({ prelimFpPercent }) => {
      line(' No FNs :)');
      line(` Prelim FP rate %: ${cppDouble(prelimFpPercent)}`);
    },
    phase: (phase) => {
      line(RULE);
      line(PHASE_TITLES[phase]);
    },
    mode: ({ mode, grossNs, dryRunNs, netNs, dryRunHash }) => {
      if (!options.quick && grossNs !== null && dryRunNs !== null) {
        line(`    Gross filter    ns/op: ${cppDouble(grossNs)}`);
        line(`    Dry run (${dryRunHash}) ns/op: ${cppDouble(dryRunNs)}`);
      }
      line(`  ${MODE_TITLES[mode]} net ns/op: ${cppDouble(netNs)}`);
    },
    done: ({ averagePercent, worstPercent, bestPercent, bestPossibleBitsPerKey }) => {
      line(`    Average FP rate %: ${cppDouble(averagePercent)}`);
      if (!options.quick && !options.bestCase) {
        line(`    Worst   FP rate %: ${cppDouble(worstPercent)}`);
        line(`    Best    FP rate %: ${cppDouble(bestPercent)}`);
        line(`    Best possible bits/key: ${cppDouble(bestPossibleBitsPerKey)}`);
      }
      line(RULE);
      line('Done. (For more info, run with -legend or -help.)');
    },
  };
}

export const FILTER_BENCH_LEGEND = `Legend:
  "Inside"              a key that was added to the filter that is asked
  "Outside"             a key that was not added
  "FN", "FP"            false negative (must not happen), false positive (expected, at a low rate)
  "Dry run"             the same draws and hashes, and no filter
  "Gross filter"        queries of the filter, draws and hashes included
  "net"                 gross less dry run: what the filter itself takes
  "ns/op"               nanoseconds a query, or a key that is added
  "Single filter"       one filter, which fits into the nearest cache: the least that a query costs
  "Batched, prepared"   some keys for one filter in one call
  "Batched, unprepared" the same keys, one call each
  "Random filter"       each query goes to another filter
  "Skewed X% in Y%"     as random, but Y % of the filters get X % of the queries
`;

const WAY_TITLES = {
  bits: 'bits reader',
  block: 'full block reader, cached',
  reparse: 'full block reader, parsed each time',
} as const;

export function writeFilterComparison(sink: ByteSink, { modes }: FilterReaderComparison): void {
  const rows = modes.flatMap(({ mode, ways }) =>
    ways.map(({ way, grossNs, netNs, grossRatio, netRatio, filterMetadataParses }) => [
      `${MODE_TITLES[mode]}, ${WAY_TITLES[way]}`,
      netNs.toFixed(1),
      netRatio.toFixed(3),
      grossNs.toFixed(1),
      grossRatio.toFixed(3),
      String(filterMetadataParses),
    ]),
  );
  writeTable(
    sink,
    [
      { title: 'ns a query' },
      { title: 'net' },
      { title: 'net ratio' },
      { title: 'gross' },
      { title: 'gross ratio' },
      { title: 'parses' },
    ],
    rows,
  );
}

export function writeFileFilters(sink: ByteSink, reports: readonly FileFilterReport[]): void {
  const ns = (value: number | null): string => (value === null ? '' : value.toFixed(1));
  writeTable(
    sink,
    [
      { title: 'file' },
      { title: 'filter' },
      { title: 'filters' },
      { title: 'bytes' },
      { title: 'bits/key' },
      { title: 'inside ns' },
      { title: 'outside ns' },
      { title: 'batched ns' },
      { title: 'parsed each time ns' },
      { title: 'hash ns' },
      { title: 'FP rate %' },
    ],
    reports.map((report) => [
      report.path,
      report.kind ?? 'none',
      String(report.filters),
      String(report.bytes),
      report.bitsPerKey === null ? '' : report.bitsPerKey.toFixed(2),
      ns(report.insideNs),
      ns(report.outsideNs),
      ns(report.batchedNs),
      ns(report.reparseNs),
      ns(report.hashNs),
      report.falsePositivePercent === null ? '' : report.falsePositivePercent.toFixed(4),
    ]),
  );
}

/** Six significant digits, as a C++ stream prints a double. */
export function cppDouble(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const exponent = value === 0 ? 0 : Number(value.toExponential(5).split('e')[1]);
  if (exponent >= -4 && exponent < 6) return String(Number(value.toPrecision(6)));
  const [digits, power] = value.toExponential(5).split('e') as [string, string];
  const sign = power.startsWith('-') ? '-' : '+';
  return `${String(Number(digits))}e${sign}${power.slice(1).padStart(2, '0')}`;
}
