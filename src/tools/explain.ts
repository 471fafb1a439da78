import { InvalidArgumentError, IoError, type SstError, withPending } from '../errors.ts';
import type { NodeEnvironment } from '../node/environment.ts';
import { type ExplainOptions, explainKey } from './explain/explain-key.ts';
import { explainOffset, type OffsetMeaning } from './explain/explain-offset.ts';
import type { Explanation } from './explain/explanation.ts';
import type { Finding } from './finding.ts';
import { expandInputs, forEachInput } from './input.ts';
import type { OpenOptions } from './open-any-table.ts';
import { judgeTableInput } from './table-inputs.ts';

export interface ExplainEvents {
  failure(error: SstError): void;
  finding(path: string, finding: Finding): void;
}

/**
 * The look-up of a key in each table that the path leads to; of a database without one none. Throws what keeps the only
 * one from being read.
 */
export async function explainKeyIn(
  environment: NodeEnvironment,
  path: string,
  key: Uint8Array,
  options: ExplainOptions,
  events: ExplainEvents,
): Promise<Explanation[]> {
  const explanations: Explanation[] = [];
  const refused: SstError[] = [];
  const inputs = expandInputs(environment, [path]);
  if (inputs.failures[0] !== undefined) throw inputs.failures[0];
  await forEachInput(
    environment,
    inputs.files,
    async (input) => {
      const verdict = judgeTableInput(input);
      if (verdict.use === 'error') refused.push(verdict.error);
      if (verdict.use !== 'table') return true;
      explanations.push(await withPending(() => explainKey(input.source, environment, key, options)));
      return true;
    },
    (_file, error) => refused.push(error),
  );
  const isEmptyDatabase = refused.length === 0 && inputs.databases.length > 0;
  if (explanations.length === 0 && !isEmptyDatabase)
    throw refused[0] ?? new IoError('no_table', path, 'no table file in this directory');
  for (const error of refused) events.failure(error);
  return explanations;
}

/** What the byte at an offset of one file means. */
export async function explainByte(
  environment: NodeEnvironment,
  path: string,
  offset: number,
  options: OpenOptions,
  events: ExplainEvents,
): Promise<OffsetMeaning> {
  const { files, failures } = expandInputs(environment, [path]);
  if (failures[0] !== undefined) throw failures[0];
  if (files.length !== 1 || !files[0]!.named) {
    throw new InvalidArgumentError('at', path, '--at is for one file, and this is a directory');
  }
  let meaning: OffsetMeaning | undefined;
  let failure: SstError | undefined;
  await forEachInput(
    environment,
    files,
    async (input) => {
      const verdict = judgeTableInput(input);
      if (verdict.use === 'error') throw verdict.error;
      meaning = await explainOffset(environment, input, offset, options, (finding) =>
        events.finding(path, finding),
      );
      return true;
    },
    (_file, error) => {
      failure = error;
    },
  );
  if (meaning === undefined) throw failure!;
  return meaning;
}
