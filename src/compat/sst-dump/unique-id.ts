import { writeFixed64 } from '../../bytes/fixed.ts';
import { utf8Bytes } from '../../bytes/text.ts';
import { u64FromBigInt, u64ToBigInt } from '../../bytes/u64.ts';
import { xxh3Wide } from '../../hash/xxh3.ts';

const MASK_64 = 0xffffffffffffffffn;
/** Added before the last hash, so that the id of zeros stays one. */
const HIGH_OFFSET_FOR_ZERO = 17391078804906429400n;
const LOW_OFFSET_FOR_ZERO = 6417269962128484497n;

export interface TableOrigin {
  readonly dbId: string;
  readonly sessionId: string;
  readonly fileNumber: bigint;
}

/**
 * The unique id of a table as RocksDB prints it, `HHHHHHHHHHHHHHHH-HHHHHHHHHHHHHHHH`; undefined when the
 * properties do not say where the table comes from.
 * Two words: the session's lower half; the hash of the DB's id (seeded with the session's upper half) xor the
 * file number. A last bijective hash over both makes the external form: it is XXH3-128 of these 16 bytes.
 * Source: RocksDB table/unique_id.cc.
 */
export function tableUniqueId({ dbId, sessionId, fileNumber }: TableOrigin): string | undefined {
  if (dbId === '' || fileNumber === 0n) return undefined;
  const session = decodeSessionId(sessionId);
  if (session === undefined) return undefined;
  const id = utf8Bytes(dbId);
  const hash = xxh3Wide(id, 0, id.length, u64FromBigInt(session.upper));
  const words = new Uint8Array(16);
  writeFixed64(words, 0, (session.lower + LOW_OFFSET_FOR_ZERO) & MASK_64);
  writeFixed64(words, 8, ((u64ToBigInt(hash.high) ^ fileNumber) + HIGH_OFFSET_FOR_ZERO) & MASK_64);
  const external = xxh3Wide(words, 0, 16);
  return `${littleEndianHex(u64ToBigInt(external.low))}-${littleEndianHex(u64ToBigInt(external.high))}`;
}

/** 13 to 24 digits of base 36: the last twelve hold the low 62 bits, the others what is above them. */
function decodeSessionId(text: string): { upper: bigint; lower: bigint } | undefined {
  if (!/^[0-9A-Za-z]{13,24}$/.test(text)) return undefined;
  const high = base36(text.slice(0, -12));
  const low = base36(text.slice(-12));
  return { upper: high >> 2n, lower: ((low & (MASK_64 >> 2n)) | (high << 62n)) & MASK_64 };
}

function base36(digits: string): bigint {
  let value = 0n;
  for (const digit of digits) value = (value * 36n + BigInt(Number.parseInt(digit, 36))) & MASK_64;
  return value;
}

function littleEndianHex(word: bigint): string {
  const bytes = new Uint8Array(8);
  writeFixed64(bytes, 0, word);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase();
}
