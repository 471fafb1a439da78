/**
 * What every command has in common: one spelling of flags (src/argv.ts), one output sink, one mapping from
 * errors to messages and exit statuses (src/exit-status.ts). A command's `run` is: parse, one call to tools, one
 * call to render; it returns its exit status and throws SstErrors.
 */

import { Command } from '@oclif/core/command';
import type { Input, ParserOutput } from '@oclif/core/interfaces';
import { parse as parseWords } from '@oclif/core/parser';
import {
  asksForJson,
  type FlagDefinition,
  type FlagTable,
  flagTable,
  rewriteArgv,
  seemsToAskForJson,
} from './argv.ts';
import { InvalidArgumentError, SstError } from './errors.ts';
import { ExitStatus, errorDocument, statusOfError } from './exit-status.ts';
import { writeJsonDocument } from './render/json.ts';
import { ClosedPipe, type FdSink, stdoutSink } from './render/sink.ts';

// biome-ignore lint/suspicious/noExplicitAny: oclif's own bound for flags and arguments
type Values = { [name: string]: any };

export abstract class SstkitCommand extends Command {
  private sink: FdSink | undefined;
  private quiet = false;
  private wantsJson = false;
  private readonly cleanups = new Set<() => void>();
  private interruptHandler: (() => void) | undefined;

  /** Parses, works, prints; answers with the exit status. */
  abstract override run(): Promise<ExitStatus>;

  /** Standard output. The base class flushes it at the end. */
  protected get stdout(): FdSink {
    this.sink ??= stdoutSink();
    return this.sink;
  }

  /** Whether standard output is a terminal (colours, widths). */
  protected get stdoutIsTerminal(): boolean {
    return process.stdout.isTTY === true;
  }

  /** One line of prose on stderr, unless `--quiet`. */
  protected note(text: string): void {
    if (!this.quiet) process.stderr.write(`${text}\n`);
  }

  /** One line on stderr that `--quiet` does not silence: damage, lost ranges. */
  protected complain(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  /**
   * Registers what Ctrl-C has to undo (a temporary output to remove). The returned function takes it back; call
   * it when the output is in its place. Synchronous, and must not throw. Without any cleanup there is no signal
   * handler at all, so that Ctrl-C ends also a long synchronous loop at once (a shell then sees 130 as well).
   */
  protected onInterrupt(cleanup: () => void): () => void {
    if (this.interruptHandler === undefined) {
      this.interruptHandler = () => {
        for (const each of this.cleanups) each();
        process.exit(ExitStatus.interrupted);
      };
      process.on('SIGINT', this.interruptHandler);
    }
    this.cleanups.add(cleanup);
    return () => {
      this.cleanups.delete(cleanup);
      if (this.cleanups.size === 0 && this.interruptHandler !== undefined) {
        process.off('SIGINT', this.interruptHandler);
        this.interruptHandler = undefined;
      }
    };
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
    this.wantsJson = asksForJson(words);
    this.argv = words;
    try {
      const parsed: ParserOutput<F, B, A> = await parseWords<F, B, A>(words, {
        ...input,
        context: this,
        flags,
      } as unknown as Input<F, B, A>);
      this.parsed = true;
      this.quiet = (parsed.flags as { quiet?: boolean }).quiet === true;
      return parsed;
    } catch (error) {
      throw usageError(error);
    }
  }

  /** Runs the command and sets `process.exitCode`; never throws. */
  async execute(): Promise<ExitStatus> {
    let status: ExitStatus;
    try {
      status = await this.run();
      this.sink?.flush();
    } catch (error) {
      status = this.report(error);
    }
    process.exitCode = status;
    return status;
  }

  /** oclif's way in. */
  protected override async _run<T>(): Promise<T> {
    return (await this.execute()) as T;
  }

  private report(error: unknown): ExitStatus {
    // A document that has begun to leave cannot be taken back: then the error goes to stderr.
    const json = (this.wantsJson || seemsToAskForJson(this.argv)) && (this.sink?.flushedBytes ?? 0) === 0;
    return reportError(error, { json, command: this.id, sink: this.sink });
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

export interface ReportOptions {
  /** As a JSON document on stdout, in place of whatever waits in `sink`. */
  json: boolean;
  /** For the pointer to its help. */
  command?: string | undefined;
  sink?: FdSink | undefined;
}

/** Tells the user about an error; answers with the exit status that it stands for. */
export function reportError(error: unknown, { json, command, sink }: ReportOptions): ExitStatus {
  if (error instanceof ClosedPipe) return ExitStatus.ok;
  let status = statusOfError(error);
  try {
    if (json) {
      const output = sink ?? stdoutSink();
      output.discard();
      writeJsonDocument(output, errorDocument(error));
      output.flush();
    } else {
      sink?.flush();
    }
  } catch (second) {
    // The pipe went, or the disk is full: the first error still counts.
    if (!(second instanceof ClosedPipe) && status === ExitStatus.ok) status = statusOfError(second);
  }
  if (!json) process.stderr.write(`sstkit: ${errorText(error, command)}\n`);
  if (process.env.DEBUG === '1' && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return status;
}

function errorText(error: unknown, command: string | undefined): string {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof InvalidArgumentError) {
    return `${message}\nsstkit ${command === undefined ? '' : `${command} `}--help lists what can be given`;
  }
  if (error instanceof SstError) return message;
  return `internal error: ${message}\nThis is a bug of sstkit; DEBUG=1 shows where it happened.`;
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
    .trim();
  if (error instanceof InvalidArgumentError)
    return new InvalidArgumentError(error.argument, error.value, message);
  return new InvalidArgumentError('command line', '', message);
}
