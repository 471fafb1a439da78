import { utf8 } from '../../bytes/text.ts';
import type { Environment } from '../../engine/environment.ts';
import { IoError } from '../../errors.ts';
import { parseFileName } from '../../format/file-name.ts';
import { columnFamilyOption, type OptionsSection, parseOptionsFile } from '../../format/options-file.ts';
import { type PrefixExtractor, prefixExtractorByName } from '../../operators/prefix-extractor.ts';

/** Where the extractor of lookups comes from. */
export interface GivenExtractor {
  /** Null: none, by the user's word. Undefined: not said. */
  readonly byFlag: PrefixExtractor | null | undefined;
  /** That of the database's OPTIONS file, for a column family; undefined where it says none. */
  byOptions(family: string): KnownByName | undefined;
}

/** An extractor whose name is known, and its function where it is one of RocksDB's own. */
export interface KnownByName {
  readonly extractor: PrefixExtractor;
  readonly hasFunction: boolean;
}

/** The newest OPTIONS file of a database directory; undefined where there is none that can be read. */
export function readOptions(
  environment: Pick<Environment, 'files'>,
  directory: string,
): readonly OptionsSection[] | undefined {
  let newest: { name: string; number: number } | undefined;
  for (const { name, kind } of environment.files.list(directory)) {
    const parsed = kind === 'file' ? parseFileName(name) : undefined;
    if (parsed?.type !== 'options') continue;
    if (newest === undefined || parsed.number > newest.number) newest = { name, number: parsed.number };
  }
  if (newest === undefined) return undefined;
  try {
    const source = environment.files.open(`${directory.replace(/\/$/, '')}/${newest.name}`);
    try {
      return parseOptionsFile(utf8(source.read(0, source.size)));
    } finally {
      source.close();
    }
  } catch (error) {
    if (error instanceof IoError) return undefined;
    throw error;
  }
}

export function givenByOptions(
  sections: readonly OptionsSection[] | undefined,
  family: string,
  note: (text: string) => void,
): KnownByName | undefined {
  if (sections === undefined) return undefined;
  const named = prefixExtractorByName(columnFamilyOption(sections, family, 'prefix_extractor'));
  switch (named.status) {
    case 'none':
      return undefined;
    case 'known':
      return { extractor: named.extractor, hasFunction: true };
    default:
      note(
        `OPTIONS names prefix extractor ${named.name}, whose function is not known here: ` +
          'names are compared, prefixes are not made (--prefix-extractor NAME=...)',
      );
      return { extractor: withoutFunction(named.name), hasFunction: false };
  }
}

/** Has no key in its domain. */
function withoutFunction(name: string): PrefixExtractor {
  return { name, inDomain: () => false, prefixEnd: (_key, start) => start };
}
