import type { SmallFile } from '../tools/small-file.ts';
import type { ByteSink } from './sink.ts';
import { storedText, writePairs, writeSection } from './text-sections.ts';
import type { Theme } from './theme.ts';

/** CURRENT, IDENTITY and OPTIONS files, for people and for programs. */

const TITLES: Readonly<Record<SmallFile['kind'], string>> = {
  current: 'CURRENT file',
  identity: 'IDENTITY file',
  options: 'OPTIONS file',
};

/** The members behind kind, path and size (schema/dump.schema.json). */
export function smallFileJson(file: SmallFile): { readonly [name: string]: unknown } {
  switch (file.kind) {
    case 'current':
      return { manifest: file.manifest };
    case 'identity':
      return { identity: file.identity };
    case 'options': {
      const sections = file.sections.map(({ type, name, options }) => ({
        type,
        name,
        options: Object.fromEntries(options),
      }));
      return { sections };
    }
  }
}

export function writeSmallFile(
  sink: ByteSink,
  theme: Theme,
  path: string,
  size: number,
  file: SmallFile,
): void {
  sink.writeLine(`${theme.heading(path)}: ${TITLES[file.kind]}, ${size} bytes`);
  switch (file.kind) {
    case 'current':
      writePairs(sink, theme, [['MANIFEST', file.manifest === null ? 'none' : storedText(file.manifest)]]);
      break;
    case 'identity':
      writePairs(sink, theme, [['identity', storedText(file.identity)]]);
      break;
    case 'options':
      for (const { type, name, options } of file.sections) {
        writeSection(sink, theme, storedText(name === '' ? type : `${type} "${name}"`));
        writePairs(
          sink,
          theme,
          [...options].map(([option, value]) => [storedText(option), storedText(value)]),
        );
      }
  }
}
