/**
 * Question: how long does printing every entry of a table take, beside the installed sst_dump?
 * Data: db_bench's tables of 2,000,000 entries (keys of 16 bytes, values of 100), ZSTD, Snappy and uncompressed.
 * Warm-up: one run of each command; then `rounds` runs of each in turns. Whole processes, stdout to the RAM disk.
 * Unit: milliseconds of wall clock and processor; "times faster" is sst_dump's time over ours, pair by pair.
 *
 * In hexadecimal both tools print the same bytes, which is checked. As text ours prints more (theirs cuts a key at
 * its first zero byte), so text is compared by nanoseconds a byte of output.
 */

import { closeSync, openSync, readSync } from 'node:fs';
import { rocksdbVersion } from './machine.mjs';
import { inTurns, medianOf, pairwise } from './measure.mjs';
import { markdownTable, mb, ms, spread, times, verdict } from './report.mjs';
import { hasCommand, sstkit } from './tools.mjs';

export const QUESTION =
  'Printing every entry: `scan` and `sst_dump --command=scan` against sst_dump. Targets: hexadecimal at least 2 ' +
  'times faster; text not slower per byte of output.';

const HEX_TIMES_FASTER = 2;

export async function run(context) {
  const rows = [];
  for (const compression of ['zstd', 'snappy', 'none']) {
    const table = context.data.table({ compression, entries: context.entries });
    rows.push(...(await hexRows(context, table)), ...(await textRows(context, table)));
  }
  context.say(
    markdownTable(
      ['file, command', 'wall ms', 'CPU ms', 'peak MB', 'out MB', 'ns/byte', 'times faster', 'CPU', 'target'],
      rows,
    ),
  );
}

async function hexRows(context, table) {
  const { data } = context;
  const theirs = { label: 'sst_dump hex', stdoutFile: data.output('theirs') };
  const scan = { label: '`scan --bytes hex`', stdoutFile: data.output('scan') };
  const dropIn = { label: '`sst_dump` hex', stdoutFile: data.output('drop-in') };
  scan.command = sstkit('scan', table.file, '--bytes', 'hex');
  dropIn.command = dropInScan(table, '--output_hex');
  if (context.sstDump !== undefined) {
    theirs.command = [context.sstDump, `--file=${table.file}`, '--command=scan', '--output_hex'];
  }
  const commands = present([theirs, scan, dropIn]);
  const runs = await inTurns(commands, context.rounds);
  checkRows(scan.stdoutFile, table.entries);
  if (commands.includes(theirs) && commands.includes(dropIn)) {
    checkSameRows(theirs.stdoutFile, dropIn.stdoutFile);
  }
  for (const { stdoutFile } of commands) data.drop({ file: stdoutFile });
  return report(table, commands, runs, theirs, (their, our) => their / our, HEX_TIMES_FASTER);
}

async function textRows(context, table) {
  const { data } = context;
  const theirs = { label: 'sst_dump text', stdoutFile: data.output('theirs') };
  const scan = { label: '`scan`', stdoutFile: data.output('scan') };
  const dropIn = { label: '`sst_dump` text', stdoutFile: data.output('drop-in') };
  scan.command = sstkit('scan', table.file);
  dropIn.command = dropInScan(table);
  if (context.sstDump !== undefined) {
    theirs.command = [context.sstDump, `--file=${table.file}`, '--command=scan'];
  }
  const commands = present([theirs, scan, dropIn]);
  const runs = await inTurns(commands, context.rounds);
  for (const { stdoutFile } of commands) data.drop({ file: stdoutFile });
  const perByte = (their, our, theirBytes, ourBytes) => their / theirBytes / (our / ourBytes);
  return report(table, commands, runs, theirs, perByte, 1);
}

function dropInScan(table, ...flags) {
  if (!hasCommand('sst_dump')) return undefined;
  const compat = rocksdbVersion()?.startsWith('7.') ? ['--compat=7.8'] : [];
  return sstkit('sst_dump', ...compat, `--file=${table.file}`, '--command=scan', ...flags);
}

const present = (commands) => commands.filter(({ command }) => command !== undefined);

/** One row a command; `ratio(theirMs, ourMs, theirBytes, ourBytes)` says how many times faster ours is. */
function report(table, commands, runs, theirs, ratio, target) {
  const baseline = runs[commands.indexOf(theirs)];
  return commands.map((command, i) => {
    const own = runs[i];
    const faster = (field) =>
      pairwise(baseline, own, (a, b) => ratio(a[field], b[field], a.outputBytes, b.outputBytes));
    const isOurs = command !== theirs && baseline !== undefined;
    const wall = isOurs ? faster('wallMs') : undefined;
    return [
      `${table.compression}, ${command.label}`,
      ms(medianOf(own, 'wallMs')),
      ms(medianOf(own, 'cpuMs')),
      mb(medianOf(own, 'rssMb')),
      mb(own[0].outputBytes / 1e6),
      times((medianOf(own, 'wallMs') * 1e6) / own[0].outputBytes),
      isOurs ? spread(wall) : '',
      isOurs ? times(faster('cpuMs').median) : '',
      isOurs ? `${target}: ${verdict(wall.median >= target)}` : '',
    ];
  });
}

/** A faster answer counts only when it is the whole answer. */
function checkRows(file, entries) {
  let rows = 0;
  for (const bytes of readPieces(file)) {
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) rows++;
  }
  if (rows !== entries) throw new Error(`scan printed ${rows} rows of ${entries}`);
}

/** The first line holds an address of the real tool's memory; behind it the outputs are the same. */
function checkSameRows(theirFile, ourFile) {
  const ours = readPieces(ourFile, skipLine(ourFile));
  let position = 0;
  for (const theirs of readPieces(theirFile, skipLine(theirFile))) {
    const { value } = ours.next();
    if (value === undefined || Buffer.compare(theirs, value) !== 0) {
      throw new Error(`the drop-in prints something else than sst_dump in the MiB behind byte ${position}`);
    }
    position += theirs.length;
  }
  if (!ours.next().done) throw new Error('the drop-in prints more than sst_dump');
}

function skipLine(file) {
  const [first] = readPieces(file);
  return first === undefined ? 0 : first.indexOf(10) + 1;
}

/** Pieces of 1 MiB; one is good until the next is asked for. */
function* readPieces(file, offset = 0) {
  const fd = openSync(file, 'r');
  try {
    const piece = Buffer.alloc(1024 * 1024);
    for (;;) {
      const length = readSync(fd, piece, 0, piece.length, offset);
      if (length === 0) return;
      yield piece.subarray(0, length);
      offset += length;
    }
  } finally {
    closeSync(fd);
  }
}
