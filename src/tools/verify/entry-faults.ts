import type { SstError } from '../../errors.ts';
import type { BlockIterator } from '../../format/block/block-iterator.ts';
import { entryTypeName } from '../../format/value-type.ts';
import { type Finding, findingOf } from '../finding.ts';
import { keyText } from './key-text.ts';

/** What is wrong with the entries of one block: each kind of fault once, with its number and its first case. */
export class EntryFaults {
  /** Whether entries are lost. */
  lost = false;
  private readonly kinds: {
    code: string;
    severity: Finding['severity'];
    kind: string;
    first: string;
    count: number;
  }[] = [];

  shortKey(entryStart: number, keyLength: number, minKeyLength: number): void {
    this.lost = true;
    this.add(
      'entry_malformed',
      'damage',
      'short',
      () =>
        `entry at ${entryStart} in the block: a key of ${keyLength} bytes, ${minKeyLength} or more belong to one`,
    );
  }

  wrongType(entryStart: number, type: number): void {
    this.add(
      'entry_malformed',
      'damage',
      'type',
      () => `entry at ${entryStart} in the block has type ${entryTypeName(type)}, which no data block holds`,
    );
  }

  value(entryStart: number, type: number, error: SstError): void {
    const { code, severity, message } = findingOf(error);
    this.add(
      code,
      severity,
      'value',
      () => `${entryTypeName(type)} entry at ${entryStart} in the block: ${message}`,
    );
  }

  misplaced(relation: 'before' | 'repeated' | 'same_seqno', entry: BlockIterator, ordinal: number): void {
    const key = (): string =>
      `entry at ${entry.entryStart} of block ${ordinal}, key ${keyText(entry.key, entry.keyLength)}`;
    if (relation === 'before') {
      this.add('key_order', 'damage', relation, () => `${key()}, belongs before the entry in front of it`);
    } else if (relation === 'repeated') {
      this.add(
        'key_order',
        'damage',
        relation,
        () => `${key()}, repeats key and sequence number of the entry before`,
      );
    } else {
      this.add(
        'key_order',
        'warning',
        relation,
        () => `${key()}, has key and sequence number of the entry before, and another type`,
      );
    }
  }

  /** Restarts, hash index. */
  structure(reason: string): void {
    this.add('block_format', 'damage', 'structure', () => reason);
  }

  findings(block: NonNullable<Finding['block']>): Finding[] {
    return this.kinds.map(({ code, severity, first, count }) => ({
      code,
      severity,
      message: count === 1 ? first : `${first} (the first of ${count} such entries in the block)`,
      block,
    }));
  }

  private add(code: string, severity: Finding['severity'], kind: string, first: () => string): void {
    const known = this.kinds.find((each) => each.kind === kind);
    if (known !== undefined) known.count++;
    else this.kinds.push({ code, severity, kind, first: first(), count: 1 });
  }
}
