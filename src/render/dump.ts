import type { DumpOutput, DumpParts } from '../tools/dump/dump-files.ts';
import { CsvDump } from './dump-csv.ts';
import { JsonDump, NdjsonDump } from './dump-json.ts';
import { TextDump } from './dump-text.ts';
import type { BytesMode } from './key-format.ts';
import type { ByteSink } from './sink.ts';
import type { Theme } from './theme.ts';

export interface DumpFormat {
  readonly format: 'text' | 'json' | 'ndjson' | 'csv';
  /** By default escaped in text, hexadecimal elsewhere. */
  readonly bytes: BytesMode | undefined;
  readonly theme: Theme;
}

/** What prints the parts of a dump. */
export function openDumpOutput(sink: ByteSink, parts: DumpParts, options: DumpFormat): DumpOutput {
  const bytes = options.bytes ?? (options.format === 'text' ? 'escape' : 'hex');
  switch (options.format) {
    case 'text':
      return new TextDump(sink, parts, bytes, options.theme);
    case 'json':
      return new JsonDump(sink, parts, bytes);
    case 'ndjson':
      return new NdjsonDump(sink, bytes);
    case 'csv':
      return new CsvDump(sink, parts, bytes);
  }
}
