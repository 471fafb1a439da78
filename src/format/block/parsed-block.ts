import { readFixed32 } from '../../bytes/fixed.ts';
import { CorruptionError } from '../../errors.ts';
import { type BlockLayout, decodeBlockLayout } from './block-layout.ts';

/**
 * A block of entries as a cache keeps it: its contents with the layout that stands at their end, decoded once. Data
 * blocks and index blocks alike.
 */
export class ParsedBlock {
  readonly layout: BlockLayout;

  /**
   * Throws what `decodeBlockLayout` throws, and CorruptionError `block_format` where the first restart is not the first
   * entry: the entries before it would be missed, and to move back would have no end.
   */
  constructor(readonly contents: Uint8Array) {
    this.layout = decodeBlockLayout(contents);
    const { restartCount, restartsStart } = this.layout;
    if (restartCount === 0) return;
    const first = readFixed32(contents, restartsStart);
    if (first !== 0)
      throw new CorruptionError('block_format', `the first restart leads to ${first}, not to 0`);
  }
}
