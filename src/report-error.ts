/** What a user reads about an error, and the exit status that goes with it. */

import { InvalidArgumentError, SstError } from './errors.ts';
import { ExitStatus, errorDocument, statusOfError } from './exit-status.ts';
import { writeJsonDocument } from './render/json.ts';
import { ClosedPipe, type FdSink, stdoutSink } from './render/sink.ts';

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
