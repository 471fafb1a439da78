import { IoError } from '../errors.ts';

const CODES: Readonly<Record<string, { code: string; message: string }>> = {
  ENOENT: { code: 'not_found', message: 'no such file or directory' },
  EACCES: { code: 'permission', message: 'permission denied' },
  EPERM: { code: 'permission', message: 'permission denied' },
  EISDIR: { code: 'is_directory', message: 'is a directory' },
};

/** A system error of node:fs as an IoError that names the path; the original is its cause. */
export function wrapSystemError(error: unknown, path: string): IoError {
  const systemCode = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  const known = systemCode === undefined ? undefined : CODES[systemCode];
  if (known !== undefined) return new IoError(known.code, path, known.message, { cause: error });
  // Node's text is "EIO: i/o error, read": the code and the words are of use, the call is not.
  const text = error instanceof Error ? error.message : String(error);
  return new IoError('io_error', path, text, { cause: error });
}
