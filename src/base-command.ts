/**
 * What every command has in common: one spelling of flags (src/argv.ts), one process around it (src/process-host.ts).
 * A command's `run` is: parse, one call to tools, one call to render; it returns its exit status and throws SstErrors.
 */

import { Command } from '@oclif/core/command';
import type { Input, ParserOutput } from '@oclif/core/interfaces';
import { parse as parseWords } from '@oclif/core/parser';
import { asksForJson, type FlagDefinition, type FlagTable, flagTable, rewriteArgv } from './argv.ts';
import { InvalidArgumentError } from './errors.ts';
import type { ExitStatus } from './exit-status.ts';
import { ProcessHost } from './process-host.ts';
import type { FdSink } from './render/sink.ts';

// biome-ignore lint/suspicious/noExplicitAny: oclif's own bound for flags and arguments
type Values = { [name: string]: any };

export abstract class SstkitCommand extends Command {
  protected readonly host = new ProcessHost();

  /** Parses, works, prints; answers with the exit status. */
  abstract override run(): Promise<ExitStatus>;

  /** Standard output. It is flushed at the end. */
  protected get stdout(): FdSink {
    return this.host.stdout;
  }

  /** Whether standard output is a terminal (colours, widths). */
  protected get stdoutIsTerminal(): boolean {
    return process.stdout.isTTY === true;
  }

  /** One line of prose on stderr, unless `--quiet`. */
  protected note(text: string): void {
    this.host.note(text);
  }

  /** One line on stderr that `--quiet` does not silence: damage, lost ranges. */
  protected complain(text: string): void {
    this.host.complain(text);
  }

  /** Files of a directory that are no tables: each by its name with `--verbose`, else how many. */
  protected noteSkipped(paths: readonly string[], verbose: boolean): void {
    if (verbose) for (const path of paths) this.note(`${path}: skipped, no table file`);
    else this.note(`${paths.length} other files skipped (--verbose names them)`);
  }

  /** See ProcessHost. */
  protected onInterrupt(cleanup: () => void): () => void {
    return this.host.onInterrupt(cleanup);
  }

  /**
   * oclif's parse on the rewritten command line; whatever is wrong with it is an InvalidArgumentError. oclif's
   * own `parse` would only add its plugin hooks, and these need the whole configuration (17 ms).
   */
  protected override async parse<F extends Values, B extends Values, A extends Values>(
    options?: Input<F, B, A>,
    argv: string[] = this.argv,
  ): Promise<ParserOutput<F, B, A>> {
    const input = options ?? (this.ctor as unknown as Input<F, B, A>);
    const flags = { ...input.baseFlags, ...input.flags };
    const words = rewriteArgv(argv, tableOf(flags));
    this.host.wantsJson = asksForJson(words);
    this.argv = words;
    try {
      const parsed: ParserOutput<F, B, A> = await parseWords<F, B, A>(words, {
        ...input,
        context: this,
        flags,
      } as unknown as Input<F, B, A>);
      this.parsed = true;
      this.host.quiet = (parsed.flags as { quiet?: boolean }).quiet === true;
      return parsed;
    } catch (error) {
      throw usageError(error);
    }
  }

  /** Runs the command and sets `process.exitCode`; never throws. */
  execute(): Promise<ExitStatus> {
    return this.host.execute(
      () => this.run(),
      () => ({ command: this.id, argv: this.argv }),
    );
  }

  /** oclif's way in. */
  protected override async _run<T>(): Promise<T> {
    return (await this.execute()) as T;
  }
}

/**
 * A drop-in for another program: its words go to it untouched, also `--help`, and it prints what that program
 * prints.
 */
export abstract class DropInCommand extends SstkitCommand {
  static override strict = false;

  /** `argv` as typed, without the command's name. */
  protected abstract runDropIn(argv: readonly string[]): Promise<ExitStatus>;

  override run(): Promise<ExitStatus> {
    this.parsed = true;
    return this.runDropIn(this.argv);
  }
}

function tableOf(flags: object): FlagTable {
  return flagTable(flags as Record<string, FlagDefinition>);
}

/** oclif wraps messages over several lines and points to --help in each. */
function usageError(error: unknown): InvalidArgumentError {
  const message = (error instanceof Error ? error.message : String(error))
    .replace(/\s*See more help with --help\s*/g, '')
    .replace(/^The following errors? occurred:\s*/, '')
    .replace(/^Parsing (--\S+)\s+/, '$1: ')
    .replace(/\s*\n\s*/g, ' ')
    // What the flag's own parser says may begin with its name, too.
    .replace(/^(--[\w-]+): (?=\1\b)/, '')
    .trim();
  if (error instanceof InvalidArgumentError)
    return new InvalidArgumentError(error.argument, error.value, message);
  return new InvalidArgumentError('command line', '', message);
}
