import { NodeEncoderRegistry } from '../../src/node/encoders.ts';
import { openNodeEnvironment } from '../../src/node/environment.ts';
import { openTargets } from '../../src/tools/compact/output-targets.ts';
import { type CompactRequest, type CompactResult, compactTables } from '../../src/tools/compact.ts';

export const node = await openNodeEnvironment();
export const environment = { ...node, encoders: new NodeEncoderRegistry(node.hashes) };

/** What a test does not ask for. */
export const PLAIN_REQUEST: Omit<CompactRequest, 'paths'> = {
  recursive: false,
  range: {},
  columnFamily: undefined,
  open: {},
  snapshots: [],
  bottommost: false,
  mergeOperator: undefined,
  targetFileBytes: Number.POSITIVE_INFINITY,
  table: {},
  ingestable: false,
  salvage: false,
  dryRun: false,
};

export const QUIET = {
  finding: () => undefined,
  failure: () => undefined,
  note: () => undefined,
  warning: () => undefined,
  skipped: () => undefined,
  progress: () => undefined,
};

/** A compaction in this process into the file or directory `out`, which is replaced. */
export async function compactHere(
  out: string,
  request: Partial<CompactRequest> & Pick<CompactRequest, 'paths'>,
): Promise<{ result: CompactResult; warnings: string[] }> {
  const warnings: string[] = [];
  const targets = openTargets(out, { force: true, many: request.targetFileBytes !== undefined });
  const result = await compactTables(
    environment,
    { ...PLAIN_REQUEST, ...request },
    (number) => targets.open(number),
    { ...QUIET, warning: (text) => warnings.push(text) },
  );
  return { result, warnings };
}
