import { CacheFullError } from '../engine/cache/block-cache.ts';
import { TableCache } from '../engine/cache/table-cache.ts';
import type { FileSource } from '../engine/environment.ts';
import type { LookupHooks } from '../engine/table/block-store.ts';
import { LookupTable, type LookupTableOptions } from '../engine/table/lookup-table.ts';
import { TableSet } from '../engine/table/table-set.ts';
import { InvalidArgumentError, IoError, SstError, withPending } from '../errors.ts';
import type { NodeEnvironment } from '../node/environment.ts';
import {
  type MergeOperator,
  mergeOperatorByName,
  type NamedMergeOperator,
} from '../operators/merge-operator.ts';
import type { PrefixExtractor } from '../operators/prefix-extractor.ts';
import { columnFamilyOf, DEFAULT_COLUMN_FAMILY } from './column-families.ts';
import { expandInputs, forEachInput, type InputFile } from './input.ts';
import { judgeTableInput } from './table-inputs.ts';

export interface LookupRequest {
  readonly paths: readonly string[];
  readonly recursive?: boolean;
  /** Only tables of this column family. Default: `default`, where PATHs lead to more than one. */
  readonly columnFamily?: string | undefined;
  readonly mergeOperator?: NamedMergeOperator | undefined;
  readonly prefixExtractor?: PrefixExtractor | undefined;
  readonly table?: LookupTableOptions;
}

export interface LookupEvents {
  failure(error: SstError): void;
  note(text: string): void;
  skipped(paths: readonly string[]): void;
}

/** Tables of one column family, open and read as one. */
export interface OpenLookup {
  /** Undefined: a database without a table. */
  readonly set: TableSet | undefined;
  /** As reports name them; table i of the set is `paths[i]`. */
  readonly paths: readonly string[];
  close(): void;
}

/** A table and the file that it holds. */
class FileTable {
  constructor(
    readonly table: LookupTable,
    private readonly source: FileSource,
  ) {}

  close(): void {
    this.table.close();
    this.source.close();
  }
}

/**
 * Opens every table that the PATHs lead to. A DB directory is its table files: neither its MANIFEST nor its logs are
 * read, and a note says so. Throws IoError when there is no table and no database, and where none can be opened, what
 * opening the first one throws.
 */
export async function openLookup(
  environment: NodeEnvironment,
  request: LookupRequest,
  events: LookupEvents,
  hooks: LookupHooks = {},
): Promise<OpenLookup> {
  const files = await chooseFiles(environment, request, events);
  const options: LookupTableOptions = {
    ...request.table,
    ...(request.prefixExtractor === undefined ? {} : { prefixExtractor: request.prefixExtractor }),
  };
  const open = (path: string): FileTable => {
    const source = environment.files.open(path);
    try {
      const identity = `${path}:${source.size}:${environment.files.status(path).modifiedMicros}`;
      return new FileTable(
        LookupTable.openWithHooks(source, environment, { ...options, identity }, hooks),
        source,
      );
    } catch (error) {
      source.close();
      throw error;
    }
  };
  const cache = new TableCache(open, 0);
  const opened: { path: string; table: LookupTable }[] = [];
  const refused: SstError[] = [];
  const close = (): void => {
    for (const { path } of opened) cache.release(path);
  };
  try {
    for (const path of files) {
      try {
        opened.push({ path, table: (await withPending(() => cache.acquire(path))).table });
        // Where range tombstones cannot be read, a deleted row would come back.
        await withPending(() => opened.at(-1)!.table.tombstones.isEmpty);
      } catch (error) {
        if (error instanceof CacheFullError) {
          throw new InvalidArgumentError('cache-size', String(error.capacityBytes), error.message);
        }
        if (!(error instanceof SstError)) throw error;
        refused.push(error);
      }
    }
    const tables = opened.map(({ table }) => table);
    const [fault] = refused;
    if (tables.length === 0 && fault !== undefined) {
      for (const error of refused.slice(1)) events.failure(error);
      throw fault;
    }
    for (const error of refused) events.failure(error);
    if (tables.length === 0) return { set: undefined, paths: [], close };
    const set = new TableSet(tables, {
      mergeOperator: operatorFor(tables, request.mergeOperator),
      prefixExtractor: request.prefixExtractor,
    });
    return { set, paths: opened.map(({ path }) => path), close };
  } catch (error) {
    close();
    throw error;
  }
}

async function chooseFiles(
  environment: NodeEnvironment,
  request: LookupRequest,
  events: LookupEvents,
): Promise<string[]> {
  const inputs = expandInputs(environment, request.paths, { recursive: request.recursive ?? false });
  if (inputs.files.length === 0 && inputs.failures.length > 0) throw inputs.failures[0]!;
  for (const failure of inputs.failures) events.failure(failure);
  for (const path of inputs.databases) {
    events.note(`${path}: a DB directory: its table files are read, not its MANIFEST and its logs`);
  }
  const byFamily = new Map<string, string[]>();
  const skipped: string[] = [];
  const refused: SstError[] = [];
  await forEachInput(
    environment,
    inputs.files,
    async (input) => {
      const verdict = judgeTableInput(input);
      if (verdict.use === 'error') refused.push(verdict.error);
      else if (verdict.use === 'skip') skipped.push(input.file.path);
      else {
        const family = await columnFamilyOf(environment, input);
        byFamily.set(family, [...(byFamily.get(family) ?? []), input.file.path]);
      }
      return true;
    },
    (file: InputFile, error, gone) => {
      if (gone) events.note(`${file.path}: gone`);
      else refused.push(error);
    },
  );
  if (skipped.length > 0) events.skipped(skipped);
  if (byFamily.size === 0 && refused.length === 0 && inputs.databases.length > 0) return [];
  if (byFamily.size === 0) {
    throw refused[0] ?? new IoError('no_table', request.paths[0]!, 'no table file in this directory');
  }
  for (const error of refused) events.failure(error);
  const families = [...byFamily.keys()].sort();
  const wanted = request.columnFamily ?? (families.length === 1 ? families[0]! : DEFAULT_COLUMN_FAMILY);
  const files = byFamily.get(wanted);
  if (files !== undefined) return files;
  throw new InvalidArgumentError(
    'cf',
    wanted,
    `no table of column family ${wanted}: there are ${families.join(', ')}`,
  );
}

const COMMA = Uint8Array.of(0x2c);

/** The one that is given; else the one that the tables name, where that is enough to know it. */
function operatorFor(
  tables: readonly LookupTable[],
  given: NamedMergeOperator | undefined,
): MergeOperator | undefined {
  if (given !== undefined) return given.status === 'known' ? given.operator : undefined;
  for (const { reader } of tables) {
    // The delimiter of a string append stands nowhere in a file: it is taken to be RocksDB's default.
    const named = mergeOperatorByName(reader.properties?.get('rocksdb.merge.operator'), COMMA);
    if (named.status === 'known') return named.operator;
  }
  return undefined;
}
