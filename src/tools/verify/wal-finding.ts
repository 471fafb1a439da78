import type { LogFault } from '../../format/log/log-reader.ts';
import { type Finding, findingOf } from '../finding.ts';

/** What is wrong with a record of a WAL, with its place in the message: there are no blocks to name. */
export function walFinding(fault: LogFault): Finding {
  const finding = findingOf(fault);
  if (fault.offset !== undefined) finding.message = `record at ${fault.offset}: ${finding.message}`;
  return finding;
}
