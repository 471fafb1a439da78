import { utf8Bytes } from '../../bytes/text.ts';
import { ValueType } from '../../format/value-type.ts';
import type { TextKernel } from '../../kernels/text-kernel.ts';
import { HEX_VALUES, type RowEncoder } from './row-encoder.ts';
import type { WriteEntry } from './write-entry.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
/** Numbers of so many digits are exact. */
const MAX_EXACT_DIGITS = 15;

const OPEN = utf8Bytes('{');
const FILE = utf8Bytes('{"file":"');
const KEY_AFTER_FILE = utf8Bytes('","key":"');
const KEY = utf8Bytes('"key":"');
const TIMESTAMP = utf8Bytes('","timestamp":"');
const SEQNO = utf8Bytes('","seqno":"');
const TYPE = utf8Bytes('","type":"');
const VALUE = utf8Bytes('","value":"');
const CLOSE = utf8Bytes('"}');

/** Below this a call of the kernel costs more than the loop. */
const KERNEL_MIN_DIGITS = 64;

/** Byte of two hex digits, -1 for anything else; by the first one times 256, and the second. */
const HEX_PAIRS = hexPairs();

function hexPairs(): Int16Array {
  const pairs = new Int16Array(65_536);
  for (let i = 0; i < pairs.length; i++) {
    pairs[i] = (HEX_VALUES[i >> 8]! << 4) | HEX_VALUES[i & 255]!;
  }
  return pairs;
}

/** Types whose value is plain bytes. */
const PLAIN_TYPES: readonly { readonly name: Uint8Array; readonly type: number }[] = [
  { name: utf8Bytes('put'), type: ValueType.value },
  { name: utf8Bytes('delete'), type: ValueType.deletion },
  { name: utf8Bytes('merge'), type: ValueType.merge },
  { name: utf8Bytes('single_delete'), type: ValueType.singleDeletion },
  { name: utf8Bytes('delete_with_timestamp'), type: ValueType.deletionWithTimestamp },
];

/**
 * Rows as `scan --format ndjson` prints them. A row of the plainest shape is read straight from its bytes:
 *
 *   {"file":"a.sst","key":"6b31","timestamp":"00..","seqno":"17","type":"put","value":"7631"}
 *
 * (file and timestamp may be missing). Everything else, whatever its order of fields or blanks, goes through
 * JSON.parse, which is eight times slower and also says what is wrong.
 */
export class NdjsonRows {
  private readonly decoder = new TextDecoder('utf-8', { fatal: true });
  private hexEnd = 0;

  constructor(
    private readonly encoder: RowEncoder,
    private readonly entry: WriteEntry,
    private readonly textKernel?: TextKernel | undefined,
  ) {}

  /** The row in `bytes[start, end)`. Throws InvalidArgumentError. */
  parse(bytes: Uint8Array, start: number, end: number): void {
    if (this.encoder.isHex && this.parsePlain(bytes, start, end)) return;
    this.encoder.encodeJson(this.textOf(bytes, start, end), this.entry);
  }

  private textOf(bytes: Uint8Array, start: number, end: number): string {
    try {
      return this.decoder.decode(bytes.subarray(start, end));
    } catch {
      // JSON.parse finds the place, as good as any.
      return new TextDecoder('latin1').decode(bytes.subarray(start, end));
    }
  }

  /** False: the row has another shape, and nothing is to be relied on. */
  private parsePlain(bytes: Uint8Array, start: number, end: number): boolean {
    const { entry, encoder } = this;
    let pos = start;
    if (startsAt(bytes, pos, FILE)) {
      pos += FILE.length;
      while (pos < end && bytes[pos] !== QUOTE) if (bytes[pos++] === BACKSLASH) return false;
      if (!startsAt(bytes, pos, KEY_AFTER_FILE)) return false;
      pos += KEY_AFTER_FILE.length;
    } else {
      pos += OPEN.length;
      if (bytes[start] !== OPEN[0] || !startsAt(bytes, pos, KEY)) return false;
      pos += KEY.length;
    }
    entry.reserve((end - pos) >> 1, (end - pos) >> 1);

    pos = this.hex(bytes, pos, end, entry.key, 0);
    let keyEnd = this.hexEnd;
    const { timestampSize } = encoder;
    if (timestampSize > 0) {
      if (!startsAt(bytes, pos, TIMESTAMP)) return false;
      pos = this.hex(bytes, pos + TIMESTAMP.length, end, entry.key, keyEnd);
      if (this.hexEnd !== keyEnd + timestampSize) return false;
      keyEnd = this.hexEnd;
    }

    if (!startsAt(bytes, pos, SEQNO)) return false;
    pos += SEQNO.length;
    let seqno = 0;
    const digits = pos;
    for (; pos < end; pos++) {
      const digit = bytes[pos]! - ZERO;
      if (digit < 0 || digit > 9) break;
      seqno = seqno * 10 + digit;
    }
    if (pos === digits || pos - digits > MAX_EXACT_DIGITS) return false;

    if (!startsAt(bytes, pos, TYPE)) return false;
    pos += TYPE.length;
    const plain = plainTypeAt(bytes, pos);
    if (plain === undefined) return false;
    pos += plain.name.length + VALUE.length;

    const valueEnd = end - CLOSE.length;
    if (valueEnd < pos || (valueEnd - pos) % 2 !== 0 || !startsAt(bytes, valueEnd, CLOSE)) return false;
    if (!this.value(bytes, pos, valueEnd)) return false;
    entry.valueStart = 0;
    entry.valueEnd = (valueEnd - pos) >> 1;
    entry.seal(keyEnd, seqno, plain.type);
    return true;
  }

  private value(bytes: Uint8Array, start: number, end: number): boolean {
    const { textKernel, entry } = this;
    if (textKernel !== undefined && end - start >= KERNEL_MIN_DIGITS) {
      if (textKernel.unhex(bytes, start, end, entry.value)) return true;
    }
    return decodePairs(bytes, start, end, entry.value);
  }

  /**
   * Decodes digits from `pos` into `out` from `at`, up to the first that is none. Returns where that is; `hexEnd` is
   * behind the last byte written. An odd digit stays: what follows it is then not what is expected.
   */
  private hex(bytes: Uint8Array, pos: number, end: number, out: Uint8Array, at: number): number {
    for (; pos + 1 < end; pos += 2) {
      const pair = HEX_PAIRS[(bytes[pos]! << 8) | bytes[pos + 1]!]!;
      if (pair < 0) break;
      out[at++] = pair;
    }
    this.hexEnd = at;
    return pos;
  }
}

/** Digits `bytes[start, end)`, an even number. Half the time of `hex`: only the sum of all pairs is looked at. */
function decodePairs(bytes: Uint8Array, start: number, end: number, out: Uint8Array): boolean {
  let at = 0;
  let seen = 0;
  for (let pos = start; pos < end; pos += 2) {
    const pair = HEX_PAIRS[(bytes[pos]! << 8) | bytes[pos + 1]!]!;
    out[at++] = pair;
    seen |= pair;
  }
  return seen >= 0;
}

function startsAt(bytes: Uint8Array, pos: number, text: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[pos + i] !== text[i]) return false;
  return true;
}

function plainTypeAt(bytes: Uint8Array, pos: number): (typeof PLAIN_TYPES)[number] | undefined {
  for (const plain of PLAIN_TYPES) {
    if (startsAt(bytes, pos, plain.name) && startsAt(bytes, pos + plain.name.length, VALUE)) return plain;
  }
  return undefined;
}
