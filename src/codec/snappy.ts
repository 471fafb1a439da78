/** What `SnappyDecoder` can take from the kernels (src/kernels/kernels.ts). */
export interface SnappyKernel {
  /** The longest block, compressed or not, that it takes. */
  readonly snappyMaxBytes: number;
  /** Elements begin at `start + elements`, behind the length prefix. */
  uncompressSnappy(
    input: Uint8Array,
    start: number,
    elements: number,
    end: number,
    output: Uint8Array,
    at: number,
    length: number,
  ): boolean;
}

/**
 * Raw Snappy, decoded into the caller's buffer. One block at a time costs as much for the making of its array as
 * for decoding it: with one buffer for many blocks, 127 MB of 4 KB blocks took 66 ms, and 120 ms by hysnappy. Blocks
 * that fit go to the kernel, where there is one.
 * Source: google/snappy, format_description.txt.
 */
export class SnappyDecoder {
  private readonly kernelMax: number;
  private input: Uint8Array = new Uint8Array(0);
  private inputView: DataView = new DataView(this.input.buffer);
  private output: Uint8Array = this.input;
  private outputView: DataView = this.inputView;

  constructor(private readonly kernel?: SnappyKernel) {
    this.kernelMax = kernel === undefined ? -1 : kernel.snappyMaxBytes;
  }

  /**
   * Decodes `input[start, end)`, length prefix included, into `output[at, at + length)`. False when the bytes do
   * not decode to that length. Up to three bytes behind the block may be overwritten: decode in ascending order.
   */
  decode(
    input: Uint8Array,
    start: number,
    end: number,
    output: Uint8Array,
    at: number,
    length: number,
  ): boolean {
    let pos = start;
    while (pos < end && input[pos]! >= 0x80) pos++;
    if (Math.max(length, end - start) <= this.kernelMax) {
      return this.kernel!.uncompressSnappy(input, start, pos + 1 - start, end, output, at, length);
    }
    if (input !== this.input) {
      this.input = input;
      this.inputView = viewOf(input);
    }
    if (output !== this.output) {
      this.output = output;
      this.outputView = viewOf(output);
    }
    const { inputView, outputView } = this;
    return decodeElements(input, inputView, pos + 1, end, output, outputView, at, at + length);
  }
}

/** Runs are copied four bytes at once where that stays inside the buffers. */
const STEP = 4;
/** From here on a view for `set` costs less than the loop. */
const LONG_LITERAL = 200;

function decodeElements(
  input: Uint8Array,
  inputView: DataView,
  pos: number,
  end: number,
  output: Uint8Array,
  outputView: DataView,
  start: number,
  limit: number,
): boolean {
  const inputSafe = input.length - STEP;
  const outputSafe = output.length - STEP;
  let to = start;
  while (pos < end) {
    const tag = input[pos++]!;
    let length = tag >> 2;
    let offset = 0;
    switch (tag & 3) {
      case 0: {
        length++;
        if (length > 60) {
          const bytes = length - 60;
          if (pos + bytes > end) return false;
          length = 1;
          for (let i = 0, scale = 1; i < bytes; i++, scale *= 256) length += input[pos + i]! * scale;
          pos += bytes;
        }
        const stop = pos + length;
        if (stop > end || to + length > limit) return false;
        if (length > LONG_LITERAL) {
          output.set(input.subarray(pos, stop), to);
        } else if (stop <= inputSafe && to + length <= outputSafe) {
          for (let i = 0; i < length; i += STEP) {
            outputView.setInt32(to + i, inputView.getInt32(pos + i, true), true);
          }
        } else {
          for (let i = 0; i < length; i++) output[to + i] = input[pos + i]!;
        }
        to += length;
        pos = stop;
        continue;
      }
      case 1:
        if (pos + 1 > end) return false;
        length = (length & 7) + 4;
        offset = ((tag >> 5) << 8) | input[pos]!;
        pos++;
        break;
      case 2:
        if (pos + 2 > end) return false;
        length++;
        offset = input[pos]! | (input[pos + 1]! << 8);
        pos += 2;
        break;
      default:
        if (pos + 4 > end) return false;
        length++;
        offset = inputView.getUint32(pos, true);
        pos += 4;
    }
    if (offset === 0 || offset > to - start || to + length > limit) return false;
    const from = to - offset;
    if (offset >= STEP && to + length <= outputSafe) {
      for (let i = 0; i < length; i += STEP) {
        outputView.setInt32(to + i, outputView.getInt32(from + i, true), true);
      }
    } else {
      for (let i = 0; i < length; i++) output[to + i] = output[from + i]!;
    }
    to += length;
  }
  return to === limit;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
