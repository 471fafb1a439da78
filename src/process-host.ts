/**
 * The process around a command: its output, its interruption, its end. It knows nothing of oclif, so that a drop-in
 * starts without it.
 */

import { seemsToAskForJson } from './argv.ts';
import { ExitStatus } from './exit-status.ts';
import { type FdSink, stdoutSink } from './render/sink.ts';
import { reportError } from './report-error.ts';

export class ProcessHost {
  /** Silences `note`. */
  quiet = false;
  /** An error is a JSON document. */
  wantsJson = false;
  private sink: FdSink | undefined;
  private readonly cleanups = new Set<() => void>();
  private interruptHandler: (() => void) | undefined;

  /** Standard output. `execute` flushes it at the end. */
  get stdout(): FdSink {
    this.sink ??= stdoutSink();
    return this.sink;
  }

  /** One line of prose on stderr, unless `quiet`. */
  note(text: string): void {
    if (!this.quiet) process.stderr.write(`${text}\n`);
  }

  /** One line on stderr that `quiet` does not silence: damage, lost ranges. */
  complain(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  /**
   * Registers what Ctrl-C has to undo (a temporary output to remove). The returned function takes it back; call
   * it when the output is in its place. Synchronous, and must not throw. Without any cleanup there is no signal
   * handler at all, so that Ctrl-C ends also a long synchronous loop at once (a shell then sees 130 as well).
   */
  onInterrupt(cleanup: () => void): () => void {
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

  /** Runs a command's work, tells what goes wrong, and sets `process.exitCode`; never throws. */
  async execute(
    run: () => Promise<ExitStatus>,
    called: () => { command: string | undefined; argv: readonly string[] },
  ): Promise<ExitStatus> {
    let status: ExitStatus;
    try {
      status = await run();
      this.sink?.flush();
    } catch (error) {
      const { command, argv } = called();
      // A document that has begun to leave cannot be taken back: then the error goes to stderr.
      const json = (this.wantsJson || seemsToAskForJson(argv)) && (this.sink?.flushedBytes ?? 0) === 0;
      status = reportError(error, { json, command, sink: this.sink });
    }
    process.exitCode = status;
    return status;
  }
}
