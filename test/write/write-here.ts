import { NodeEncoderRegistry } from '../../src/node/encoders.ts';
import { openNodeEnvironment } from '../../src/node/environment.ts';
import { type WriteOutcome, type WriteRequest, writeTable } from '../../src/tools/write.ts';

export interface WriteHereOptions extends Partial<Omit<WriteRequest, 'input' | 'out'>> {
  readonly format?: 'ndjson' | 'csv';
  /** The input comes in pieces of so many bytes. */
  readonly pieceBytes?: number;
  readonly parseBytes?: (text: string, field: string) => Uint8Array;
}

/** Writes a table in this process from rows given as text. */
export async function writeHere(
  out: string,
  rows: string | Uint8Array,
  options: WriteHereOptions = {},
): Promise<WriteOutcome> {
  const environment = await openNodeEnvironment();
  const bytes = typeof rows === 'string' ? new TextEncoder().encode(rows) : rows;
  const { format, pieceBytes = 1 << 20, parseBytes, ...request } = options;
  return writeTable(
    { ...environment, encoders: new NodeEncoderRegistry(environment.hashes) },
    {
      input: { name: 'rows', bytes: piecesOf(bytes, pieceBytes), format, parseBytes },
      out,
      force: true,
      table: {},
      sort: false,
      sortMemoryBytes: 1 << 20,
      ...request,
    },
    { opened: () => undefined, advanced: () => undefined },
  );
}

async function* piecesOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  // One buffer for all pieces, as the command has it.
  const piece = new Uint8Array(size);
  for (let at = 0; at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size);
    piece.set(part);
    yield piece.subarray(0, part.length);
  }
}

export function linesOf(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
