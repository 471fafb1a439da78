import { InvalidArgumentError } from '../../errors.ts';

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const QUOTE = 0x22;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
/** One record; a value of half this size is 256 MiB as hexadecimal. */
const MAX_RECORD_BYTES = 2 ** 30;

/**
 * Cuts a stream of bytes into records, one a line; where records may hold quoted line ends (csv), these do not end
 * them. Blank lines are passed over.
 *
 *     do {
 *       while (reader.next()) use(reader.bytes, reader.start, reader.end, reader.line);
 *     } while (await reader.fill());
 */
export class RecordReader {
  bytes: Uint8Array = new Uint8Array(0);
  /** The record, without its line end. */
  start = 0;
  end = 0;
  /** Line where it begins, from 1. */
  line = 0;
  /** Bytes taken from the stream. */
  bytesRead = 0;
  /** Line ends inside quotes belong to the record. */
  quoted = false;

  private readonly chunks: AsyncIterator<Uint8Array>;
  /** The same bytes: Buffer finds a line end in a tenth of the time. */
  private buffer: Buffer = Buffer.alloc(0);
  /** `bytes[pos, limit)` is not handed out yet; up to `searched` there is no line end. */
  private pos = 0;
  private limit = 0;
  private searched = 0;
  private inQuotes = false;
  private innerLines = 0;
  private lines = 0;
  private ended = false;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.chunks = source[Symbol.asyncIterator]();
  }

  /** Moves to the next record that is whole; false: `fill` first. */
  next(): boolean {
    for (;;) {
      let end = this.findLineEnd();
      if (end < 0) {
        if (!this.ended || this.pos >= this.limit) return false;
        end = this.limit;
      }
      const start = this.pos;
      this.pos = this.searched = Math.min(end + 1, this.limit);
      this.line = this.lines + 1;
      this.lines += 1 + this.innerLines;
      this.innerLines = 0;
      this.inQuotes = false;
      if (this.bytes[end - 1] === RETURN && end > start) end--;
      if (end > start) {
        this.start = start;
        this.end = end;
        return true;
      }
    }
  }

  /** Reads on. False: there is nothing more, and `next` has answered false after the last record. */
  async fill(): Promise<boolean> {
    if (this.ended) return false;
    const { value, done } = await this.chunks.next();
    if (done === true) {
      this.ended = true;
      return true;
    }
    this.append(value);
    return true;
  }

  /** The first bytes of the stream, of which at least `count` are there if it has so many. */
  async peek(count: number): Promise<Uint8Array> {
    while (this.limit - this.pos < count && (await this.fill()));
    return this.bytes.subarray(this.pos, Math.min(this.limit, this.pos + count));
  }

  /** Gives the stream back when it is not read to its end. */
  async close(): Promise<void> {
    await this.chunks.return?.();
  }

  private append(chunk: Uint8Array): void {
    const hadMark = this.bytesRead >= BYTE_ORDER_MARK.length;
    this.bytesRead += chunk.length;
    const kept = this.limit - this.pos;
    if (kept + chunk.length > MAX_RECORD_BYTES) {
      const line = this.lines + 1;
      throw new InvalidArgumentError(
        'in',
        `line ${line}`,
        `line ${line} is longer than ${MAX_RECORD_BYTES} bytes`,
      );
    }
    if (kept + chunk.length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(2 * kept, kept + chunk.length));
      larger.set(this.bytes.subarray(this.pos, this.limit));
      this.bytes = larger;
      this.buffer = Buffer.from(larger.buffer);
    } else {
      this.bytes.copyWithin(0, this.pos, this.limit);
    }
    this.bytes.set(chunk, kept);
    this.searched -= this.pos;
    this.pos = 0;
    this.limit = kept + chunk.length;
    // Nothing has been handed out before the first three bytes are together.
    if (
      !hadMark &&
      this.limit === this.bytesRead &&
      BYTE_ORDER_MARK.every((byte, i) => this.bytes[i] === byte)
    ) {
      this.pos = this.searched = BYTE_ORDER_MARK.length;
    }
  }

  private findLineEnd(): number {
    if (this.quoted) return this.findUnquotedLineEnd();
    const end = this.buffer.indexOf(NEWLINE, this.searched);
    if (end >= 0 && end < this.limit) return end;
    this.searched = this.limit;
    return -1;
  }

  private findUnquotedLineEnd(): number {
    const { bytes, limit } = this;
    for (let i = this.searched; i < limit; i++) {
      const byte = bytes[i];
      if (byte === QUOTE) this.inQuotes = !this.inQuotes;
      else if (byte === NEWLINE) {
        if (!this.inQuotes) {
          this.searched = i;
          return i;
        }
        this.innerLines++;
      }
    }
    this.searched = limit;
    return -1;
  }
}
