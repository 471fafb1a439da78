/**
 * The command line: which command a word means, and help. oclif parses and documents each command; this file
 * decides which one runs, so that drop-ins get their words untouched and a FILE alone is dumped.
 */

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Config } from '@oclif/core/config';
import { nearest, seemsToAskForJson } from './argv.ts';
import { DropInCommand, type SstkitCommand } from './base-command.ts';
import BenchFilter from './commands/bench-filter.ts';
import BenchRangeDel from './commands/bench-range-del.ts';
import BenchRead from './commands/bench-read.ts';
import Compact from './commands/compact.ts';
import Dump from './commands/dump.ts';
import Explain from './commands/explain.ts';
import Get from './commands/get.ts';
import PrefixCheck from './commands/prefix-check.ts';
import Scan from './commands/scan.ts';
import SstDump from './commands/sst_dump.ts';
import Verify from './commands/verify.ts';
import Version from './commands/version.ts';
import Write from './commands/write.ts';
import { InvalidArgumentError } from './errors.ts';
import { ExitStatus } from './exit-status.ts';
import { reportError } from './report-error.ts';

/** A command that can be made: the statics of the base class, without its being abstract. */
type CommandClass = Pick<typeof SstkitCommand, keyof typeof SstkitCommand> &
  (new (
    argv: string[],
    config: Config,
  ) => SstkitCommand);

/** Every command by its name; oclif's manifest is made from this table. */
export const COMMANDS: Record<string, CommandClass> = {
  'bench-filter': BenchFilter,
  'bench-range-del': BenchRangeDel,
  'bench-read': BenchRead,
  compact: Compact,
  dump: Dump,
  explain: Explain,
  get: Get,
  'prefix-check': PrefixCheck,
  scan: Scan,
  sst_dump: SstDump,
  verify: Verify,
  version: Version,
  write: Write,
};

/** Names that other programs have for a command. */
const ALIASES: Readonly<Record<string, string>> = {
  filter_bench: 'bench-filter',
  range_del_aggregator_bench: 'bench-range-del',
};

/** The folder of package.json: one up from src/ as well as from dist/. */
const ROOT = fileURLToPath(new URL('..', import.meta.url));

const HELP_FLAGS: readonly string[] = ['--help', '-h'];

/** Runs a command line (without node and script) and sets `process.exitCode`. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    process.exitCode = await route(argv);
  } catch (error) {
    process.exitCode = reportError(error, { json: seemsToAskForJson(argv) });
  }
}

async function route(argv: readonly string[]): Promise<ExitStatus> {
  const [typed, ...rest] = argv;
  const word = typed === undefined ? undefined : (ALIASES[typed] ?? typed);
  if (word === undefined || HELP_FLAGS.includes(word)) return showHelp([]);
  if (word === 'help') return showHelp(rest);
  if (word === '--version') return runCommand('version', rest);

  if (Object.hasOwn(COMMANDS, word)) return runCommand(word, rest);
  if (looksLikePath(word)) return runCommand('dump', argv);

  if (word.startsWith('-')) {
    throw new InvalidArgumentError('command', word, `a command or a FILE comes first, not ${word}`);
  }
  const near = nearest(word, visibleCommands());
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  throw new InvalidArgumentError('command', word, `"${word}" is neither a command nor a file${hint}`);
}

async function runCommand(name: string, argv: readonly string[]): Promise<ExitStatus> {
  const command = COMMANDS[name]!;
  command.id = name;
  if (!isDropIn(command) && asksForHelp(argv)) return showHelp([name]);
  return new command([...argv], bareConfig()).execute();
}

function isDropIn(command: CommandClass): boolean {
  return command.prototype instanceof DropInCommand;
}

function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).some((word) => HELP_FLAGS.includes(word));
}

/** `sstkit FILE`: a name that exists, or one that can only be meant as a file. */
function looksLikePath(word: string): boolean {
  if (word.startsWith('-')) return false;
  return word.startsWith('demo:') || /[./\\]/.test(word) || existsSync(word);
}

function visibleCommands(): string[] {
  return Object.keys(COMMANDS).filter((name) => COMMANDS[name]!.hidden !== true);
}

async function showHelp(words: readonly string[]): Promise<ExitStatus> {
  const [name] = words;
  if (name !== undefined && !Object.hasOwn(COMMANDS, name)) {
    throw new InvalidArgumentError('command', name, `"${name}" is no command`);
  }
  const { Help } = await import('@oclif/core/help');
  const config = await Config.load(ROOT);
  await new Help(config, config.pjson.oclif.helpOptions).showHelp(name === undefined ? [] : [name]);
  return ExitStatus.ok;
}

/** Commands read only the names: loading the whole configuration (plugins, themes, folders) is left to help. */
function bareConfig(): Config {
  const config = new Config({ root: ROOT });
  config.bin = 'sstkit';
  config.name = 'sstkit';
  config.version = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')).version;
  config.platform = process.platform as Config['platform'];
  config.arch = process.arch as Config['arch'];
  return config;
}
