import type {
  DictFetchComparison,
  ExtractorComparison,
  ExtractorKind,
  ReadBenchResult,
  ReadBenchRun,
} from '../tools/bench-read.ts';
import type { ByteSink } from './sink.ts';
import { writeTable } from './table.ts';

const BYTES_PER_MB = 1048576;

/** One run, as db_bench prints it. */
export function writeReadBenchRun(sink: ByteSink, name: string, run: ReadBenchRun): void {
  const { seconds, operations, found, bytes } = run;
  const micros = operations === 0 ? 0 : (seconds * 1e6) / operations;
  const rate = bytes === 0 ? '' : ` ${(bytes / BYTES_PER_MB / seconds).toFixed(1).padStart(6)} MB/s`;
  const hits = name === 'readseq' ? '' : ` (${found} of ${operations} found)`;
  sink.writeLine(
    `${name.padEnd(12)} : ${micros.toFixed(3).padStart(11)} micros/op ${Math.trunc(operations / seconds)} ops/sec ` +
      `${seconds.toFixed(3)} seconds ${operations} operations;${rate}${hits}`,
  );
}

/** Averages and medians of repeated runs, as db_bench prints them; nothing for one run alone. */
export function writeReadBenchSummary(sink: ByteSink, { name, runs }: ReadBenchResult): void {
  if (runs.length < 2) return;
  const ops = runs.map(({ operations, seconds }) => operations / seconds);
  const megabytes = runs.map(({ bytes, seconds }) => bytes / BYTES_PER_MB / seconds);
  const withRate = megabytes.some((rate) => rate > 0);
  const average =
    `${name} [AVG ${runs.length} runs] : ${Math.trunc(mean(ops))} (± ${Math.trunc(halfWidth95(ops))}) ops/sec` +
    (withRate
      ? `; ${mean(megabytes).toFixed(1).padStart(6)} (± ${halfWidth95(megabytes).toFixed(1)}) MB/sec`
      : '');
  const median =
    `${name} [MEDIAN ${runs.length} runs] : ${Math.trunc(medianOf(ops))} ops/sec` +
    (withRate ? `; ${medianOf(megabytes).toFixed(1).padStart(6)} MB/sec` : '');
  sink.writeLine(average);
  sink.writeLine(median);
}

export function writeDictFetchComparison(sink: ByteSink, comparison: DictFetchComparison): void {
  const { dataOnly, everyBlock, fetches, rounds } = comparison;
  const ratios = dataOnly.map((rate, i) => rate / everyBlock[i]!);
  const fetchesText = (byType: Record<string, number>): string =>
    Object.entries(byType)
      .map(([type, count]) => `${type} ${count}`)
      .join(', ') || 'none';
  writeTable(
    sink,
    [{ title: 'dictionary fetched for' }, { title: 'ops/sec (median)' }, { title: 'fetches' }],
    [
      ['data blocks', Math.trunc(medianOf(dataOnly)).toString(), fetchesText(fetches.dataOnly)],
      ['every block', Math.trunc(medianOf(everyBlock)).toString(), fetchesText(fetches.everyBlock)],
    ],
  );
  sink.writeLine(`times faster: ${medianOf(ratios).toFixed(3)} (median of ${rounds} rounds in turns)`);
}

export function writeExtractorComparison(
  sink: ByteSink,
  { rates, rounds, nameComparisons }: ExtractorComparison,
): void {
  const same = rates.same_instance;
  const rows = (Object.keys(rates) as ExtractorKind[]).map((kind) => [
    kind,
    Math.trunc(medianOf(rates[kind])).toString(),
    medianOf(rates[kind].map((rate, i) => same[i]! / rate)).toFixed(3),
    kind === 'names_each_time' ? 'each' : String(nameComparisons[kind]),
  ]);
  writeTable(
    sink,
    [
      { title: 'extractor' },
      { title: 'ops/sec (median)' },
      { title: 'times slower' },
      { title: 'names compared' },
    ],
    rows,
  );
  sink.writeLine(`${rounds} rounds in turns`);
}

/** Tickers as db_bench prints them under --statistics, zeros left out. */
export function writeStatistics(sink: ByteSink, document: StatisticsDocument): void {
  sink.writeLine('STATISTICS:');
  for (const [name, count] of Object.entries(document.tickers)) {
    if (count !== 0) sink.writeLine(`${name} COUNT : ${count}`);
  }
  sink.writeLine(`sstkit.filter.metadata.parses COUNT : ${document.filterMetadataParses}`);
  sink.writeLine(`sstkit.extractor.name.comparisons COUNT : ${document.extractorNameComparisons}`);
  for (const [type, count] of Object.entries(document.uncompressionDictFetches))
    sink.writeLine(`sstkit.uncompression.dict.fetches.${type} COUNT : ${count}`);
  for (const [type, count] of Object.entries(document.blockLoads))
    sink.writeLine(`sstkit.block.loads.${type} COUNT : ${count}`);
}

interface StatisticsDocument {
  readonly tickers: Record<string, number>;
  readonly filterMetadataParses: number;
  readonly extractorNameComparisons: number;
  readonly uncompressionDictFetches: Record<string, number>;
  readonly blockLoads: Record<string, number>;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Half the width of the 95 percent confidence interval of the mean. */
function halfWidth95(values: readonly number[]): number {
  const middle = mean(values);
  const variance = values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1);
  return (1.96 * Math.sqrt(variance)) / Math.sqrt(values.length);
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
