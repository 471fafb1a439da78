import type { OpenTableOptions } from '../../format/table-reader.ts';
import type { PrefixExtractor } from '../../operators/prefix-extractor.ts';

export interface PrefixCheckRequest {
  readonly paths: readonly string[];
  readonly recursive: boolean;
  /** Null: none, and nothing is read from OPTIONS. Undefined: that of OPTIONS in a directory, otherwise none. */
  readonly extractor: PrefixExtractor | null | undefined;
  /** A seek key to try in both modes, in place of one that is looked for. */
  readonly seek: Uint8Array | undefined;
  /** Prefix lookups that are timed with each extractor; 0 for none. */
  readonly benchLookups: number;
  readonly table: OpenTableOptions;
}
