import { askHashes, askKeys } from './ask-many.ts';
import type { FilterFacts, FilterKind } from './filter-metadata.ts';
import type { FilterReader } from './filter-reader.ts';

/** A filter that says the same of all keys. */
export class ConstantReader implements FilterReader {
  readonly hash = 'none';
  readonly kind: FilterKind;
  private readonly answer: boolean;

  constructor(readonly facts: FilterFacts) {
    this.kind = facts.kind;
    this.answer = facts.kind === 'always_true';
  }

  mayContainHash(): boolean {
    return this.answer;
  }

  mayContain(): boolean {
    return this.answer;
  }

  mayContainHashes(hashes: Uint32Array, count: number, out: Uint8Array): number {
    return askHashes(this, hashes, count, out);
  }

  mayContainMany(...keys: Parameters<FilterReader['mayContainMany']>): number {
    return askKeys(this, ...keys);
  }
}
