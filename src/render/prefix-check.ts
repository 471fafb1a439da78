import type { PrefixReport } from '../tools/prefix-check.ts';
import { writeJsonDocument } from './json.ts';
import { type BytesMode, formatKey } from './key-format.ts';
import type { ByteSink } from './sink.ts';
import { writeTable } from './table.ts';
import type { Theme } from './theme.ts';

type Example = NonNullable<PrefixReport['example']>;
type Bench = NonNullable<PrefixReport['bench']>;

const MATCH_TEXTS: Readonly<Record<PrefixReport['match'], string>> = {
  identity: 'fits: the file is opened with this extractor',
  name: 'fits: another instance of the extractor that the file is opened with, told by its name once',
  incompatible: 'INCOMPATIBLE',
  none_stored: 'the file has none',
  none_given: 'none is given',
};

const BENCH_TEXTS: Readonly<Record<Bench[number]['extractor'], string>> = {
  same: 'same instance',
  equal: 'equal instance',
  compared_each_time: 'same, names compared each time',
  incompatible: 'incompatible',
  none: 'none',
};

export function writePrefixReport(
  sink: ByteSink,
  report: PrefixReport,
  options: { bytes: BytesMode; theme: Theme },
): void {
  const { theme, bytes } = options;
  const line = (title: string, text: string): void => sink.writeLine(`  ${title.padEnd(18)} ${text}`);
  sink.writeLine(`${report.path}:`);
  line('stored extractor', report.storedExtractor ?? 'none');
  line('given extractor', report.givenExtractor ?? 'none');
  const paint = report.match === 'incompatible' ? theme.damage : theme.ok;
  line('match', paint(MATCH_TEXTS[report.match]));
  writeFilter(report, line);
  if (report.hashIndex !== null) {
    const { usable, reason } = report.hashIndex;
    line('hash index', usable ? 'used' : `not used: ${reason}`);
  }
  if (report.prefixes === null) {
    line('prefixes', 'not known: there is no extractor whose function is known');
  } else {
    const { distinct, outOfDomain, notContiguous } = report.prefixes;
    line(
      'prefixes',
      `${distinct} distinct, ${outOfDomain} keys out of domain, ${notContiguous} groups interrupted`,
    );
  }
  writeRates(report, line, options);
  if (report.example !== null) writeExample(report.example, line, bytes);
  if (report.bench !== null) writeBench(sink, report.bench);
}

function writeFilter({ filter }: PrefixReport, line: (title: string, text: string) => void): void {
  if (!filter.present) {
    line('filter', 'none');
    return;
  }
  const parts = [filter.wholeKey ? 'whole keys' : '', filter.prefix ? 'prefixes' : ''].filter(
    (part) => part !== '',
  );
  const layout = filter.layout === null ? '' : `${filter.layout} `;
  line(
    'filter',
    `${layout}${filter.kind ?? 'unread'}, of ${parts.join(' and ') || 'nothing'} (${filter.metaindexName})`,
  );
  line('  whole keys', filter.usableForWholeKey ? 'used by lookups' : 'not used by lookups');
  line('  prefixes', filter.usableForPrefix ? 'used by lookups' : 'not used by lookups');
  if (filter.reason !== null) line('  because', filter.reason);
}

function writeRates(
  report: PrefixReport,
  line: (title: string, text: string) => void,
  { theme, bytes }: { theme: Theme; bytes: BytesMode },
): void {
  const { falseNegatives, denials, falsePositiveRate, expectedFalsePositiveRate } = report;
  if (falseNegatives !== null) {
    line('false negatives', falseNegatives === 0 ? theme.ok('0') : theme.damage(String(falseNegatives)));
  }
  for (const { ordinal, keys, prefixes, example, exampleIs } of denials) {
    const shown = formatKey(example, bytes);
    line(
      '',
      theme.damage(`filter ${ordinal}: ${keys} entries, ${prefixes} prefixes, first ${exampleIs} ${shown}`),
    );
  }
  if (falsePositiveRate === null) return;
  const expected =
    expectedFalsePositiveRate === null ? '' : `, ${percent(expectedFalsePositiveRate)} expected`;
  line('false positives', `${percent(falsePositiveRate)} of ${report.absentAsked}${expected}`);
}

function percent(rate: number): string {
  return `${(100 * rate).toFixed(3)} %`;
}

function writeExample(example: Example, line: (title: string, text: string) => void, bytes: BytesMode): void {
  line('example', `seek ${formatKey(example.seek, bytes)}`);
  line('  prefix mode', rows(example.prefixMode, example.prefixModeCount, bytes));
  line('  total order', rows(example.totalOrder, example.totalOrderCount, bytes));
  line('  because', explainExample(example, bytes));
}

function rows(keys: readonly Uint8Array[], count: number, bytes: BytesMode): string {
  if (count === 0) return 'nothing';
  const shown = keys.map((key) => formatKey(key, bytes)).join(' ');
  return count > keys.length ? `${shown} ... (${count} keys)` : shown;
}

/** Why the two modes differ. */
export function explainExample(example: Example, bytes: BytesMode): string {
  const prefix = formatKey(example.prefix, bytes);
  const at = example.at === null ? '' : formatKey(example.at, bytes);
  switch (example.reason) {
    case 'filter_denies':
      return `the filter denies prefix ${prefix}, which the file has: prefix mode finds nothing`;
    case 'other_group_first':
      return (
        `the first key at or after the seek key, ${at}, belongs to another prefix group than ${prefix}: ` +
        'prefix mode ends at once'
      );
    case 'group_interrupted':
      return (
        `keys of prefix group ${prefix} do not stand together: ${at} of another group stands between them, ` +
        'and prefix mode ends there'
      );
    case 'longer_than_prefix':
      return (
        `the seek key is longer than its prefix ${prefix}, of which alone prefix mode takes heed: it goes on with keys ` +
        `that do not begin with the seek key, ${at} the first of them`
      );
  }
}

function writeBench(sink: ByteSink, bench: Bench): void {
  const none = bench.find(({ extractor }) => extractor === 'none')!;
  writeTable(
    sink,
    [
      { title: '  prefix lookups with' },
      { title: 'present/s' },
      { title: 'of none' },
      { title: 'absent/s' },
      { title: 'of none' },
      { title: 'by filter alone' },
      { title: 'names compared' },
    ],
    bench.map((row) => [
      `  ${BENCH_TEXTS[row.extractor]}`,
      row.presentPerSecond.toFixed(0),
      (row.presentPerSecond / none.presentPerSecond).toFixed(2),
      row.absentPerSecond.toFixed(0),
      (row.absentPerSecond / none.absentPerSecond).toFixed(2),
      `${((100 * row.answeredByFilter) / row.lookups).toFixed(1)} %`,
      String(row.nameComparisons),
    ]),
  );
}

export function writePrefixDocument(
  sink: ByteSink,
  reports: readonly PrefixReport[],
  bytes: BytesMode,
): void {
  writeJsonDocument(sink, { schema: 1, files: reports.map((report) => reportToJson(report, bytes)) });
}

function reportToJson(report: PrefixReport, bytes: BytesMode): object {
  const { denials, example, prefixes, bench, ...rest } = report;
  return {
    path: rest.path,
    storedExtractor: rest.storedExtractor,
    givenExtractor: rest.givenExtractor,
    match: rest.match,
    filter: rest.filter,
    hashIndex: rest.hashIndex,
    prefixes: prefixes ?? { distinct: null, outOfDomain: null, notContiguous: null },
    falseNegatives: rest.falseNegatives,
    denials: denials.map((each) => ({
      ordinal: each.ordinal,
      offset: each.handle.offset,
      size: each.handle.size,
      keys: each.keys,
      prefixes: each.prefixes,
      example: formatKey(each.example, bytes),
      exampleIs: each.exampleIs,
    })),
    falsePositiveRate: rest.falsePositiveRate,
    expectedFalsePositiveRate: rest.expectedFalsePositiveRate,
    absentAsked: rest.absentAsked,
    example:
      example === null
        ? null
        : {
            seek: formatKey(example.seek, bytes),
            prefixMode: example.prefixMode.map((key) => formatKey(key, bytes)),
            totalOrder: example.totalOrder.map((key) => formatKey(key, bytes)),
            prefixModeCount: example.prefixModeCount,
            totalOrderCount: example.totalOrderCount,
            prefix: formatKey(example.prefix, bytes),
            reason: example.reason,
            at: example.at === null ? null : formatKey(example.at, bytes),
            explanation: explainExample(example, bytes),
          },
    nameComparisons: rest.nameComparisons,
    ...(bench === null ? {} : { bench }),
  };
}
