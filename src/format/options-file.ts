/**
 * An OPTIONS file of a database: text of sections with `name=value` lines; `#` begins a comment where no backslash
 * stands before it. What the sections mean is left to those who ask; they are told apart by type and name.
 * Source: RocksDB options/options_parser.cc.
 */
export interface OptionsSection {
  /** `Version`, `DBOptions`, `CFOptions`, `TableOptions/BlockBasedTable`. */
  readonly type: string;
  /** The column family; empty where the section has none. */
  readonly name: string;
  readonly options: ReadonlyMap<string, string>;
}

const SECTION = /^\[\s*([^\s\]]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]$/;

/** Lines that are neither section nor option are passed over; `malformed` hears of them, the first line is 1. */
export function parseOptionsFile(
  text: string,
  malformed: (line: number, content: string) => void = () => undefined,
): OptionsSection[] {
  const sections: OptionsSection[] = [];
  let options = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    const content = withoutComment(line).trim();
    const section = SECTION.exec(content);
    if (section !== null) {
      options = new Map();
      sections.push({ type: section[1]!, name: unescapeText(section[2] ?? ''), options });
      continue;
    }
    const equals = content.indexOf('=');
    if (equals > 0)
      options.set(content.slice(0, equals).trim(), unescapeText(content.slice(equals + 1).trim()));
    else if (content !== '') malformed(index + 1, content);
  }
  return sections;
}

/** An option of a column family; undefined where the file has no such family, or not that option. */
export function columnFamilyOption(
  sections: readonly OptionsSection[],
  family: string,
  option: string,
): string | undefined {
  return sections.find(({ type, name }) => type === 'CFOptions' && name === family)?.options.get(option);
}

function withoutComment(line: string): string {
  for (let at = line.indexOf('#'); at >= 0; at = line.indexOf('#', at + 1)) {
    if (at === 0 || line[at - 1] !== '\\') return line.slice(0, at);
  }
  return line;
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r' };

function unescapeText(text: string): string {
  return text.replace(/\\(.)/g, (_, character: string) => ESCAPED[character] ?? character);
}
