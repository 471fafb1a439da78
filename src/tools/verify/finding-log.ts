import type { SstError } from '../../errors.ts';
import type { DamageShapes } from '../damage-shape.ts';
import { type Finding, findingOf } from '../finding.ts';
import { DEFAULT_MAX_FINDINGS, type FileStatus, type VerifyOptions } from './verify-options.ts';

/** What was found in one file, in the order in which it was found. */
export class FindingLog {
  readonly findings: Finding[] = [];
  /** Findings beyond the limit. */
  omitted = 0;
  damageCount = 0;
  unsupportedCount = 0;
  /** Tells the shape of blocks with a wrong checksum, once the table is open. */
  shapes: DamageShapes | undefined;

  private readonly maxFindings: number;
  private readonly strict: boolean;

  constructor({ maxFindings = DEFAULT_MAX_FINDINGS, strict = false }: VerifyOptions) {
    this.maxFindings = maxFindings;
    this.strict = strict;
  }

  /** Of a file that could be read. */
  get status(): FileStatus {
    if (this.damageCount > 0) return 'damaged';
    return this.unsupportedCount > 0 ? 'unsupported' : 'ok';
  }

  /** Nothing more is to be looked for. */
  get stopped(): boolean {
    return this.strict && this.damageCount > 0;
  }

  /** How many more findings are kept. */
  get room(): number {
    return Math.max(0, this.maxFindings - this.findings.length);
  }

  add(finding: Finding): void {
    if (this.stopped && finding.severity === 'damage') return;
    this.count(finding);
    if (this.room === 0) {
      this.omitted++;
      return;
    }
    const { block } = finding;
    if (finding.code === 'block_checksum' && block !== undefined && finding.shape === undefined) {
      const shape = this.shapes?.of(block);
      if (shape !== undefined) finding.shape = shape;
    }
    this.findings.push(finding);
  }

  addError(error: SstError, block?: Finding['block']): void {
    this.add(findingOf(error, block));
  }

  /** Counts a finding that will not be kept. */
  omit(finding: Finding): void {
    this.count(finding);
    this.omitted++;
  }

  private count(finding: Finding): void {
    if (finding.severity === 'damage') this.damageCount++;
    if (finding.code === 'unsupported') this.unsupportedCount++;
  }
}
