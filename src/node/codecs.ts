import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { inflateRawSync, inflateSync } from 'node:zlib';
import type { DecodeZstdFrames } from '../codec/batch.ts';
import { type CodecName, CodecPending, type CodecRegistry, type Decoder } from '../codec/registry.ts';
import { SnappyDecoder, type SnappyKernel } from '../codec/snappy.ts';
import { parseZstdFrame } from '../codec/zstd-frame.ts';
import { UnsupportedError } from '../errors.ts';
import { asUint8Array } from './as-uint8-array.ts';

export interface NodeCodecOptions {
  /**
   * Who decodes single zstd frames: `auto` takes zstd-napi when the user has installed it (4-5 us for a 4 KB
   * block against 16 us), else the WebAssembly package.
   */
  zstd?: 'auto' | 'wasm';
  /** Decodes many small Snappy blocks; without it a loop in TypeScript does. */
  snappyKernel?: SnappyKernel | undefined;
}

/**
 * The codecs by packages and node:zlib. Each is imported when it is first loaded: an import costs 5 to 12 ms,
 * and most databases need one of them.
 */
export class NodeCodecRegistry implements CodecRegistry {
  private readonly decoders = new Map<CodecName, Decoder>();
  private readonly loading = new Map<CodecName, Promise<void>>();

  constructor(private readonly options: NodeCodecOptions = {}) {}

  decoder(name: CodecName): Decoder {
    const decoder = this.decoders.get(name);
    if (decoder === undefined) throw new CodecPending(this, name);
    return decoder;
  }

  load(name: CodecName): Promise<void> {
    let loading = this.loading.get(name);
    if (loading === undefined) {
      loading = this.open(name).then(
        (decoder) => {
          this.decoders.set(name, decoder);
        },
        (error: unknown) => {
          const text = error instanceof Error ? error.message : String(error);
          throw new UnsupportedError('codec', name, `the ${name} codec cannot be loaded here: ${text}`);
        },
      );
      this.loading.set(name, loading);
    }
    return loading;
  }

  private open(name: CodecName): Promise<Decoder> {
    switch (name) {
      case 'snappy':
        return openSnappy(this.options.snappyKernel);
      case 'deflate_raw':
        return Promise.resolve(inflater(inflateRawSync));
      case 'zlib_stream':
        return Promise.resolve(inflater(inflateSync));
      case 'bzip2':
        return openBzip2();
      case 'lz4':
        return openLz4();
      case 'zstd':
        return this.options.zstd === 'wasm' ? openWasmZstd() : openZstd();
    }
  }
}

/**
 * A decoder of joined zstd frames on the thread pool (@mongodb-js/zstd, imported at the first call). A call
 * costs about 50 us however small it is, so it is made for 16 to 64 blocks at once; see src/codec/batch.ts.
 */
export function createZstdFramesDecoder(): DecodeZstdFrames {
  let importing: Promise<typeof import('@mongodb-js/zstd')> | undefined;
  const collect = createYoungCollector();
  return async (joined) => {
    importing ??= import('@mongodb-js/zstd').then((module) => module.default ?? module);
    const { decompress } = await importing;
    const decoded = await decompress(Buffer.from(joined.buffer, joined.byteOffset, joined.length));
    collect(decoded.length);
    return asUint8Array(decoded);
  };
}

/** Results of the pool after which their garbage is collected. */
const YOUNG_BYTES_MAX = 4 * 1024 * 1024;

/**
 * What a native package returns lies outside of V8's heap, and V8 lets 64 MB and more of it gather before it looks:
 * the young generation is collected here (0.3 ms), each time that so many bytes have been handed out: 160 MB in
 * place of 200 for a verify of 2 GiB.
 */
function createYoungCollector(): (bytes: number) => void {
  let bytes = 0;
  let collect: ((options: { type: 'minor' }) => void) | undefined;
  return (added) => {
    bytes += added;
    if (bytes < YOUNG_BYTES_MAX) return;
    bytes = 0;
    if (collect === undefined) {
      setFlagsFromString('--expose-gc');
      collect = runInNewContext('gc') as typeof collect;
    }
    collect!({ type: 'minor' });
  };
}

/** Its WebAssembly memory only grows; after a block this large it is given back. */
const SNAPPY_KEPT_BYTES = 64 * 1024 * 1024;

async function openSnappy(kernel: SnappyKernel | undefined): Promise<Decoder> {
  const { snappyUncompressor } = await import('hysnappy');
  let uncompress = snappyUncompressor();
  const many = new SnappyDecoder(kernel);
  return {
    implementation: 'hysnappy',
    decodeInto: (input, start, end, output, at, length) => many.decode(input, start, end, output, at, length),
    decode(input, start, end, length, maxLength) {
      const outputLength = length ?? maxLength;
      try {
        return uncompress(input.subarray(start, end), outputLength);
      } finally {
        if (end - start + outputLength > SNAPPY_KEPT_BYTES) uncompress = snappyUncompressor();
      }
    },
  };
}

/**
 * RocksDB writes with a window of 14 bits, older writers could be told otherwise: 15 reads them all, also
 * with a dictionary (distances count back from the current position, a larger window only reaches further).
 */
const INFLATE_WINDOW_BITS = 15;

function inflater(inflate: typeof inflateRawSync): Decoder {
  return {
    implementation: 'node:zlib',
    decode(input, start, end, length, maxLength, dictionary) {
      try {
        return asUint8Array(
          inflate(input.subarray(start, end), {
            windowBits: INFLATE_WINDOW_BITS,
            maxOutputLength: Math.max(1, maxLength),
            // One output buffer of the right size: 0.77 of the time for 32 KB blocks. 64 is the least allowed.
            ...(length === undefined ? {} : { chunkSize: Math.max(64, length + 1) }),
            ...(dictionary === undefined ? {} : { dictionary }),
          }),
        );
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLong(maxLength, error);
        throw error;
      }
    },
  };
}

const BZIP2_FIRST_OUTPUT_BYTES = 1024 * 1024;
const BZIP2_OUTPUT_FULL = '-8';

async function openBzip2(): Promise<Decoder> {
  const { default: Bzip2 } = await import('@foxglove/wasm-bz2');
  const bzip2 = await withoutProcessListeners(() => Bzip2.init());
  return {
    implementation: '@foxglove/wasm-bz2',
    decode(input, start, end, _length, maxLength) {
      const view = input.subarray(start, end);
      // Forty bytes may rightly stand for 46 MB, so a declared length bounds nothing: the buffer grows as
      // far as the data fill it.
      let capacity = Math.min(maxLength, Math.max(BZIP2_FIRST_OUTPUT_BYTES, 16 * view.length));
      for (;;) {
        try {
          return bzip2.decompress(view, capacity);
        } catch (error) {
          if (capacity >= maxLength || !String(error).includes(`failed: ${BZIP2_OUTPUT_FULL} `)) throw error;
          capacity = Math.min(maxLength, capacity * 4);
        }
      }
    },
  };
}

/**
 * Emscripten's start-up code throws every uncaught exception and rejection once more from a listener of its
 * own, which spoils the stack traces of the whole process: those listeners are taken off again.
 */
async function withoutProcessListeners<T>(start: () => Promise<T>): Promise<T> {
  const before = new Set([
    ...process.listeners('uncaughtException'),
    ...process.listeners('unhandledRejection'),
  ]);
  // The listeners are added before the first await, so only those of `start` can be new here.
  const starting = start();
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    for (const listener of process.listeners(event as 'uncaughtException')) {
      if (!before.has(listener)) process.removeListener(event, listener);
    }
  }
  return starting;
}

/** LZ4 looks back 64 KiB and no further. */
const LZ4_WINDOW_BYTES = 64 * 1024;
const LZ4_KEPT_BYTES = 1024 * 1024;

async function openLz4(): Promise<Decoder> {
  const { uncompressSync } = await import('lz4-napi');
  let scratch = new Uint8Array(64 * 1024);
  return {
    implementation: 'lz4-napi',
    decode(input, start, end, length, maxLength, dictionary) {
      // The package wants the length as four bytes before the block, and allocates it unseen.
      const wanted = length ?? maxLength;
      const size = 4 + end - start;
      let block = scratch;
      if (block.length < size) {
        block = new Uint8Array(size);
        if (size <= LZ4_KEPT_BYTES) scratch = block;
      }
      block[0] = wanted;
      block[1] = wanted >>> 8;
      block[2] = wanted >>> 16;
      block[3] = wanted >>> 24;
      block.set(input.subarray(start, end), 4);
      const prefixed = block.subarray(0, size);
      if (dictionary === undefined) return asUint8Array(uncompressSync(prefixed));
      const reachable = dictionary.subarray(Math.max(0, dictionary.length - LZ4_WINDOW_BYTES));
      return asUint8Array(uncompressSync(prefixed, reachable));
    },
  };
}

async function openZstd(): Promise<Decoder> {
  return (await openNativeZstd()) ?? (await openWasmZstd());
}

/**
 * The package keeps one WebAssembly instance a process, and a second `init` leaves it half bound to the old
 * memory (its output is zeros). So this promise is the module's too, and an instance that somebody else in
 * the process has opened is taken as it is.
 */
let wasmZstd: Promise<typeof import('@bokuweb/zstd-wasm')> | undefined;

async function initializeWasmZstd(): Promise<typeof import('@bokuweb/zstd-wasm')> {
  const zstd = await import('@bokuweb/zstd-wasm');
  try {
    zstd.freeDCtx(zstd.createDCtx());
  } catch {
    await zstd.init();
  }
  return zstd;
}

/** Output and input of one call together; its WebAssembly memory ends at 2 GiB and a failed malloc damages it. */
const WASM_ZSTD_MAX_BYTES = 1024 * 1024 * 1024;

async function openWasmZstd(): Promise<Decoder> {
  wasmZstd ??= initializeWasmZstd();
  const zstd = await wasmZstd;
  const context = zstd.createDCtx();
  return {
    implementation: '@bokuweb/zstd-wasm',
    decode(input, start, end, length, maxLength, dictionary) {
      const capacity = zstdCapacity(input, start, end, length, maxLength);
      if (capacity + end - start > WASM_ZSTD_MAX_BYTES) throw tooLargeForWasm(capacity);
      const options = { defaultHeapSize: capacity };
      const view = input.subarray(start, end);
      try {
        return dictionary === undefined
          ? zstd.decompress(view, options)
          : zstd.decompressUsingDict(context, view, dictionary, options);
      } catch (error) {
        throw namedZstdError(error);
      }
    },
  };
}

/** zstd's error codes as its zstd_errors.h names them: those that a damaged or foreign frame brings. */
const ZSTD_ERRORS: Readonly<Record<string, string>> = {
  10: 'unknown frame descriptor',
  14: 'unsupported frame parameter',
  16: 'window too large',
  20: 'data corruption detected',
  22: 'checksum of the content does not match',
  30: 'dictionary is corrupted',
  32: 'dictionary mismatch',
  64: 'out of memory',
  70: 'longer than its declared length',
  72: 'source size is wrong',
};

/** The package reports every failure as "Failed to compress with code -22". */
function namedZstdError(error: unknown): Error {
  const code = /code -(\d+)/.exec(String(error))?.[1];
  const name = code === undefined ? undefined : ZSTD_ERRORS[code];
  return new Error(name ?? (code === undefined ? String(error) : `zstd error ${code}`), { cause: error });
}

/** The part of zstd-napi/binding.js that is used here; the package is an optional peer, so its types may be absent. */
interface ZstdNapiBinding {
  DCtx: new () => {
    decompress(target: Uint8Array, source: Uint8Array): number;
    decompressUsingDDict(target: Uint8Array, source: Uint8Array, dictionary: object): number;
  };
  DDict: new (dictionary: Uint8Array) => object;
}

/** Undefined when zstd-napi is not installed or was not built for this machine. */
async function openNativeZstd(): Promise<Decoder | undefined> {
  const specifier = 'zstd-napi/binding.js';
  let binding: ZstdNapiBinding;
  try {
    const module = (await import(specifier)) as { default: ZstdNapiBinding };
    binding = module.default;
  } catch {
    return undefined;
  }
  const context = new binding.DCtx();
  const digested = new WeakMap<Uint8Array, object>();
  let last: { dictionary: Uint8Array; loaded: object } | undefined;
  /** A table that keeps nothing reads its dictionary anew for each block: to compare it costs far less than to digest it. */
  const digest = (dictionary: Uint8Array): object => {
    if (last === undefined || Buffer.compare(last.dictionary, dictionary) !== 0) {
      last = { dictionary, loaded: new binding.DDict(dictionary) };
    }
    digested.set(dictionary, last.loaded);
    return last.loaded;
  };
  return {
    implementation: 'zstd-napi',
    decode(input, start, end, length, maxLength, dictionary) {
      const output = uninitialized(zstdCapacity(input, start, end, length, maxLength));
      const view = input.subarray(start, end);
      let decodedLength: number;
      if (dictionary === undefined) {
        decodedLength = context.decompress(output, view);
      } else {
        const loaded = digested.get(dictionary) ?? digest(dictionary);
        decodedLength = context.decompressUsingDDict(output, view, loaded);
      }
      return decodedLength === output.length ? output : output.slice(0, decodedLength);
    },
  };
}

/** What to allocate for a frame: never more than its blocks can hold, and never what its header makes up. */
function zstdCapacity(
  input: Uint8Array,
  start: number,
  end: number,
  length: number | undefined,
  maxLength: number,
): number {
  const { contentLength, maxContentLength } = parseZstdFrame(input, start, end);
  const wanted = contentLength ?? length ?? Math.min(maxLength, maxContentLength);
  if (wanted > maxLength) throw tooLong(maxLength);
  if (wanted > maxContentLength) throw new Error(`the frame holds at most ${maxContentLength} bytes`);
  return wanted;
}

function tooLong(maxLength: number, cause?: unknown): Error {
  return new Error(`the data decode to more than ${maxLength} bytes`, { cause });
}

function tooLargeForWasm(capacity: number): UnsupportedError {
  return new UnsupportedError(
    'block_size',
    capacity,
    `zstd: a block of ${capacity} bytes is too large for the WebAssembly decoder; install zstd-napi to read it`,
  );
}

/** Memory with whatever was in it, of its own: for a decoder that writes all of it. */
function uninitialized(length: number): Uint8Array {
  return new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
}
