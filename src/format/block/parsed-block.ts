import { type BlockLayout, decodeBlockLayout } from './block-layout.ts';

/**
 * A block of entries as a cache keeps it: its contents with the layout that stands at their end, decoded once. Data
 * blocks and index blocks alike.
 */
export class ParsedBlock {
  readonly layout: BlockLayout;

  /** Throws what `decodeBlockLayout` throws. */
  constructor(readonly contents: Uint8Array) {
    this.layout = decodeBlockLayout(contents);
  }
}
