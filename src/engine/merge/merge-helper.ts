import type { MergeOperator } from '../../operators/merge-operator.ts';

/** An entry that waits for what follows it: its key and value are copies. */
export interface HeldEntry {
  readonly source: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/**
 * The merge operands of one user key that no snapshot parts, newest first. They wait until it is known what lies
 * below them.
 */
export class HeldOperands {
  readonly entries: HeldEntry[] = [];

  constructor(private readonly operator: MergeOperator | undefined) {}

  get isEmpty(): boolean {
    return this.entries.length === 0;
  }

  get isResolvable(): boolean {
    return this.operator !== undefined;
  }

  add(entry: HeldEntry): void {
    this.entries.push(entry);
  }

  clear(): void {
    this.entries.length = 0;
  }

  /** The value over `base`, or over nothing. */
  full(base: Uint8Array | undefined): Uint8Array {
    return this.operator!.fullMerge(base, this.oldestFirst());
  }

  /** One operand for all of them; undefined where the operator has none, or there is nothing to combine. */
  partial(): Uint8Array | undefined {
    return this.entries.length < 2 ? undefined : this.operator?.partialMerge(this.oldestFirst());
  }

  private oldestFirst(): Uint8Array[] {
    return this.entries.map(({ value }) => value).reverse();
  }
}
