import type { SstError } from '../errors.ts';
import { ExitStatus, statusOfError, worstStatus } from '../exit-status.ts';
import { findingLine } from '../render/finding-line.ts';
import type { Finding } from '../tools/finding.ts';

/** Tells each fault of a file in a line of its own, and puts the status that it stands for to `statuses`. */
export function faultEvents(complain: (text: string) => void, statuses: ExitStatus[]) {
  const failures: SstError[] = [];
  return {
    finding(path: string, finding: Finding): void {
      complain(findingLine(path, finding));
      if (finding.severity === 'damage') statuses.push(ExitStatus.damage);
    },
    failure(error: SstError): void {
      complain(error.message);
      statuses.push(statusOfError(error));
      failures.push(error);
    },
    /**
     * What a script that asked for JSON is told in place of an empty document, where no file could be used: the
     * failure that its exit status stands for.
     */
    throwFailure(): void {
      const status = worstStatus(...statuses);
      const reason = failures.find((error) => statusOfError(error) === status);
      if (reason !== undefined) throw reason;
    },
  };
}
