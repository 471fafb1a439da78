import { utf8, utf8Bytes } from '../../bytes/text.ts';
import { CorruptionError } from '../../errors.ts';
import { formatFileName, parseFileName } from '../file-name.ts';

/** `MANIFEST-` and up to 16 digits, LF. */
const LONGEST_CURRENT_BYTES = 64;

/**
 * The name of the MANIFEST that CURRENT gives: `MANIFEST-000005` and a line feed, nothing else. Without the line feed
 * no engine opens the database, as the name may be cut off; `hasLineFeed` tells it.
 * Throws CorruptionError `current_file` where it holds no such name. Source: RocksDB db/version_set.cc.
 */
export function decodeCurrent(bytes: Uint8Array): { readonly name: string; readonly hasLineFeed: boolean } {
  if (bytes.length === 0) throw new CorruptionError('current_file', 'the file is empty (0 bytes)');
  if (bytes.every((byte) => byte === 0)) {
    throw new CorruptionError('current_file', `its ${bytes.length} bytes are zeros`);
  }
  const text = utf8(bytes.subarray(0, LONGEST_CURRENT_BYTES));
  const hasLineFeed = text.endsWith('\n');
  const name = hasLineFeed ? text.slice(0, -1) : text;
  if (
    bytes.length > LONGEST_CURRENT_BYTES ||
    name.startsWith('/') ||
    parseFileName(name)?.type !== 'manifest'
  ) {
    throw new CorruptionError('current_file', 'it does not hold the name of a MANIFEST and a line feed');
  }
  return { name, hasLineFeed };
}

/** The contents of CURRENT for the MANIFEST of that number. */
export function encodeCurrent(manifestNumber: number): Uint8Array {
  return utf8Bytes(`${formatFileName('manifest', manifestNumber)}\n`);
}
