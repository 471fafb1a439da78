import type { ByteSource } from '../bytes/source.ts';
import { utf8 } from '../bytes/text.ts';
import { SstError } from '../errors.ts';
import type { FileKind } from '../format/file-kind.ts';
import { decodeCurrent } from '../format/manifest/current-file.ts';
import { type OptionsSection, parseOptionsFile } from '../format/options-file.ts';
import { type Finding, findingOf } from './finding.ts';

/** What a small file of a database says. */
export type SmallFile =
  /** Null: it holds no name of a MANIFEST. */
  | { readonly kind: 'current'; readonly manifest: string | null }
  | { readonly kind: 'identity'; readonly identity: string }
  | { readonly kind: 'options'; readonly sections: readonly OptionsSection[] };

export interface SmallFileContents {
  readonly file: SmallFile;
  readonly findings: readonly Finding[];
}

/** Real ones have some KiB; a database with very many column families has more. */
const BYTES_MAX = 16 * 1024 * 1024;
const PRINTABLE = /^[\x20-\x7e]+$/;

export function isSmallFile(kind: FileKind): kind is SmallFile['kind'] {
  return kind === 'current' || kind === 'identity' || kind === 'options';
}

/** Reads CURRENT, IDENTITY or OPTIONS: of larger ones the first 16 MiB. Throws IoErrors of the source. */
export function readSmallFile(kind: SmallFile['kind'], source: ByteSource): SmallFileContents {
  const bytes = source.read(0, Math.min(source.size, BYTES_MAX));
  switch (kind) {
    case 'current':
      return readCurrent(bytes);
    case 'identity':
      return readIdentity(utf8(bytes));
    case 'options':
      return readOptions(utf8(bytes));
  }
}

function readCurrent(bytes: Uint8Array): SmallFileContents {
  try {
    const { name: manifest, hasLineFeed } = decodeCurrent(bytes);
    return {
      file: { kind: 'current', manifest },
      findings: hasLineFeed ? [] : [missingLineFeed(manifest)],
    };
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    return { file: { kind: 'current', manifest: null }, findings: [findingOf(error)] };
  }
}

/** Of a CURRENT that ends behind the name. */
export function missingLineFeed(manifest: string): Finding {
  const message = `the line feed behind ${manifest} is missing: no engine opens the database`;
  return { code: 'current_file', severity: 'damage', message };
}

function readIdentity(text: string): SmallFileContents {
  const identity = text.trimEnd();
  const message = 'it does not hold one line of printable text';
  return {
    file: { kind: 'identity', identity },
    findings: PRINTABLE.test(identity) ? [] : [{ code: 'identity_file', severity: 'damage', message }],
  };
}

/** RocksDB reads it only with these sections, and refuses lines that are no options. */
function readOptions(text: string): SmallFileContents {
  const findings: Finding[] = [];
  const damage = (message: string): void => {
    findings.push({ code: 'options_file', severity: 'damage', message });
  };
  const sections = parseOptionsFile(text, (line, content) =>
    damage(`line ${line} is neither section nor option: ${content.slice(0, 80)}`),
  );
  for (const type of ['Version', 'DBOptions']) {
    if (!sections.some((section) => section.type === type)) damage(`there is no section ${type}`);
  }
  if (!sections.some(({ type, name }) => type === 'CFOptions' && name === 'default')) {
    damage('there is no section CFOptions "default": the file is cut short, or no OPTIONS file');
  }
  return { file: { kind: 'options', sections }, findings };
}
