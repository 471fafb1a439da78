/**
 * Names of the files in a DB directory. A name says what a file should be; what it is, its content says
 * (file-kind.ts). Numbers come from one counter, are written with six digits at least and read with any number.
 * Source: RocksDB file/filename.cc.
 */
export type FileName =
  | {
      readonly type:
        | 'wal'
        | 'table'
        | 'blob'
        | 'manifest'
        | 'options'
        | 'temp'
        | 'compaction_progress'
        | 'metadb';
      readonly number: number;
    }
  /** `number` is the time at which a log was set aside; 0 for the one in use. */
  | { readonly type: 'info_log'; readonly number: number }
  | { readonly type: 'current' | 'identity' | 'lock' };

export type NumberedFileType = 'wal' | 'table' | 'blob' | 'manifest' | 'options' | 'temp';

const EXTENSIONS: Readonly<Record<string, 'wal' | 'table' | 'blob' | 'temp'>> = {
  log: 'wal',
  sst: 'table',
  ldb: 'table',
  blob: 'blob',
  dbtmp: 'temp',
};

/**
 * Reads a name without its directory; `archive/` before a WAL's name is accepted. Undefined: no file of a DB
 * has this name. LOG names with the path of the DB in front, as a separate log directory has them, are LOGs.
 */
export function parseFileName(name: string): FileName | undefined {
  const rest = name.startsWith('/') && name.length > 1 ? name.slice(1) : name;
  if (rest === 'CURRENT') return { type: 'current' };
  if (rest === 'IDENTITY') return { type: 'identity' };
  if (rest === 'LOCK') return { type: 'lock' };
  const log = /^(?:[A-Za-z0-9._-]+_)?LOG(?:\.old(?:\.(\d+).*)?)?$/.exec(rest);
  if (log !== null) return numbered('info_log', log[1] ?? '0');
  const prefixed = /^(MANIFEST|METADB|OPTIONS|COMPACTION_PROGRESS)-(\d+)(.*)$/.exec(rest);
  if (prefixed !== null) return parsePrefixed(prefixed[1]!, prefixed[2]!, prefixed[3]!);
  const plain = /^(archive\/)?(\d+)\.([a-z]+)$/.exec(rest);
  if (plain === null) return undefined;
  const type = Object.hasOwn(EXTENSIONS, plain[3]!) ? EXTENSIONS[plain[3]!] : undefined;
  if (type === undefined || (plain[1] !== undefined && type !== 'wal')) return undefined;
  return numbered(type, plain[2]!);
}

function parsePrefixed(prefix: string, digits: string, suffix: string): FileName | undefined {
  switch (prefix) {
    case 'MANIFEST':
      return suffix === '' ? numbered('manifest', digits) : undefined;
    case 'METADB':
      return suffix === '' ? numbered('metadb', digits) : undefined;
    case 'OPTIONS':
      // Text behind the number is tolerated.
      return numbered(suffix.endsWith('.dbtmp') ? 'temp' : 'options', digits);
    default:
      if (suffix === '.dbtmp') return numbered('temp', digits);
      return suffix === '' ? numbered('compaction_progress', digits) : undefined;
  }
}

function numbered<Type extends Exclude<FileName['type'], 'current' | 'identity' | 'lock'>>(
  type: Type,
  digits: string,
): { type: Type; number: number } | undefined {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? { type, number } : undefined;
}

/** The name that RocksDB gives to a new file: `000012.sst`, `MANIFEST-000005`. */
export function formatFileName(type: NumberedFileType, number: number): string {
  const digits = String(number).padStart(6, '0');
  switch (type) {
    case 'wal':
      return `${digits}.log`;
    case 'table':
      return `${digits}.sst`;
    case 'blob':
      return `${digits}.blob`;
    case 'manifest':
      return `MANIFEST-${digits}`;
    case 'options':
      return `OPTIONS-${digits}`;
    case 'temp':
      return `${digits}.dbtmp`;
  }
}

/** The last part of a path, with either kind of separator. */
export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}
