import { writeFixed32 } from '../../bytes/fixed.ts';
import { InvalidArgumentError } from '../../errors.ts';
import { TRAILER_SIZE } from '../../format/internal-key.ts';

/** The sequence numbers of a file have 56 bits. */
const MAX_SEQNO = (1n << 56n) - 1n;
const LOW_SEQNO = 0x1000000;

/**
 * One row on its way into a table: internal key `key[keyStart, keyEnd)`, value `value[valueStart, valueEnd)`, which
 * for a range tombstone is its end key with timestamp. One object serves all rows; its bytes are valid until the
 * next one.
 */
export class WriteEntry {
  key: Uint8Array = new Uint8Array(1024);
  keyStart = 0;
  keyEnd = 0;
  value: Uint8Array = new Uint8Array(4096);
  valueStart = 0;
  valueEnd = 0;
  /** Line of the input, from 1. */
  line = 0;

  /** Makes room for so many bytes of user key, and of value; what is there is lost. */
  reserve(keyBytes: number, valueBytes: number): void {
    const keySize = keyBytes + TRAILER_SIZE;
    if (keySize > this.key.length) this.key = new Uint8Array(Math.max(keySize, 2 * this.key.length));
    if (valueBytes > this.value.length) {
      this.value = new Uint8Array(Math.max(valueBytes, 2 * this.value.length));
    }
  }

  /** Puts the trailer behind the user key `key[0, userKeyEnd)`. `seqno` is at most 2^53 - 1. */
  seal(userKeyEnd: number, seqno: number, type: number): void {
    const high = Math.floor(seqno / LOW_SEQNO);
    putTrailer(this.key, userKeyEnd, high, seqno - high * LOW_SEQNO, type);
    this.keyStart = 0;
    this.keyEnd = userKeyEnd + TRAILER_SIZE;
  }

  /** The same for all 56 bits. */
  sealBig(userKeyEnd: number, seqno: bigint, type: number): void {
    putTrailer(this.key, userKeyEnd, Number(seqno >> 24n), Number(seqno & 0xffffffn), type);
    this.keyStart = 0;
    this.keyEnd = userKeyEnd + TRAILER_SIZE;
  }
}

function putTrailer(key: Uint8Array, at: number, high: number, low: number, type: number): void {
  key[at] = type;
  key[at + 1] = low;
  key[at + 2] = low >>> 8;
  key[at + 3] = low >>> 16;
  writeFixed32(key, at + 4, high);
}

/** A sequence number as rows have it: decimal text, or a number. */
export function parseSeqno(value: unknown, field = 'seqno'): bigint {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text === 'string' && /^\d{1,17}$/.test(text)) {
    const seqno = BigInt(text);
    if (seqno <= MAX_SEQNO) return seqno;
  }
  throw new InvalidArgumentError(
    field,
    String(value),
    `${field} ${JSON.stringify(value)} is no sequence number (0 to ${MAX_SEQNO})`,
  );
}

/** The fault of a row, with its line in front. */
export function atLine(error: InvalidArgumentError, input: string, line: number): InvalidArgumentError {
  return new InvalidArgumentError('in', `line ${line}`, `${input}: line ${line}: ${error.message}`);
}
