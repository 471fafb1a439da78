import { deflateRawSync, type ZlibOptions } from 'node:zlib';
import { writeFixed32 } from '../bytes/fixed.ts';
import {
  type BlockEncoder,
  DEFAULT_COMPRESSION_LEVEL,
  type EncodableName,
  type EncoderParameters,
  type EncoderRegistry,
  notWritable,
} from '../codec/encoder.ts';
import { InvalidArgumentError, UnsupportedError } from '../errors.ts';
import type { HashFunctions } from '../hash/registry.ts';
import { asUint8Array } from './as-uint8-array.ts';
import { NodeCodecRegistry } from './codecs.ts';

/**
 * The encoders by packages and node:zlib, each imported when it is first opened.
 * `hashes` computes the checksum of zstd frames, which the packages cannot be asked for.
 */
export class NodeEncoderRegistry implements EncoderRegistry {
  constructor(private readonly hashes: HashFunctions) {}

  async open(name: EncodableName, parameters: EncoderParameters): Promise<BlockEncoder> {
    switch (name) {
      case 'snappy':
        return openSnappy();
      case 'zlib':
        return new ZlibEncoder(parameters);
      case 'lz4':
        return openLz4(parameters.level);
      case 'zstd':
        return openZstd(parameters, this.hashes);
      case 'lz4hc':
        throw notWritable(
          name,
          'no encoder of that strength is at hand',
          'lz4 is decoded by the same readers',
        );
      case 'bzip2':
        throw notWritable(name, 'no encoder is at hand', 'zstd compresses as well and is faster');
      case 'xpress':
        throw new UnsupportedError(
          'compression',
          name,
          'compression xpress needs the Windows Compression API; snappy and lz4 are as fast',
        );
    }
  }
}

/** Its WebAssembly memory only grows; after a block this large it is given back. */
const SNAPPY_KEPT_BYTES = 64 * 1024 * 1024;

async function openSnappy(): Promise<BlockEncoder> {
  const { snappyCompressor } = await import('hysnappy');
  let compress = snappyCompressor();
  const encoder: BlockEncoder = {
    implementation: 'hysnappy',
    encode(input, start, end) {
      try {
        return compress(input.subarray(start, end));
      } finally {
        if (end - start > SNAPPY_KEPT_BYTES) compress = snappyCompressor();
      }
    },
    withDictionary: () => encoder,
  };
  return encoder;
}

/** Source: RocksDB util/compression.h, Zlib_Compress. */
const ZLIB_MEMORY_LEVEL = 8;

class ZlibEncoder implements BlockEncoder {
  readonly implementation = 'node:zlib';
  private readonly options: ZlibOptions;

  constructor(
    private readonly parameters: EncoderParameters,
    dictionary?: Uint8Array,
  ) {
    const { level, windowBits, strategy } = parameters;
    if (windowBits > -9 || windowBits < -15) {
      throw new InvalidArgumentError(
        'window_bits',
        String(windowBits),
        `zlib writes raw deflate here: window_bits is -9 to -15, not ${windowBits}`,
      );
    }
    if (level !== DEFAULT_COMPRESSION_LEVEL && (level < -1 || level > 9)) {
      throw new InvalidArgumentError('level', String(level), `zlib has levels -1 to 9, not ${level}`);
    }
    this.options = {
      ...(level === DEFAULT_COMPRESSION_LEVEL ? {} : { level }),
      windowBits: -windowBits,
      strategy,
      memLevel: ZLIB_MEMORY_LEVEL,
      ...(dictionary === undefined ? {} : { dictionary }),
    };
  }

  encode(input: Uint8Array, start: number, end: number): Uint8Array {
    return asUint8Array(deflateRawSync(input.subarray(start, end), this.options));
  }

  withDictionary(dictionary: Uint8Array): BlockEncoder {
    return new ZlibEncoder(this.parameters, dictionary);
  }
}

/** LZ4 looks back 64 KiB and no further. */
const LZ4_WINDOW_BYTES = 64 * 1024;
/** The package's own length, four bytes, before the block. */
const LZ4_NAPI_PREFIX = 4;

async function openLz4(level: number): Promise<BlockEncoder> {
  if (level !== DEFAULT_COMPRESSION_LEVEL && level !== 0) {
    throw new UnsupportedError(
      'compression_level',
      level,
      level > 0
        ? `lz4 with level ${level} is lz4hc, which is not written here; without a level it is lz4`
        : `lz4 is written with its default level alone, not ${level}; leave the level out`,
    );
  }
  const { compressSync } = await import('lz4-napi');
  const open = (dictionary: Uint8Array | undefined): BlockEncoder => {
    const reachable =
      dictionary === undefined
        ? undefined
        : Buffer.from(dictionary.subarray(Math.max(0, dictionary.length - LZ4_WINDOW_BYTES)));
    return {
      implementation: 'lz4-napi',
      encode(input, start, end) {
        const block = Buffer.from(input.buffer, input.byteOffset + start, end - start);
        return asUint8Array(compressSync(block, reachable)).subarray(LZ4_NAPI_PREFIX);
      },
      withDictionary: open,
    };
  };
  return open(undefined);
}

/** Source: zstd.h, ZSTD_CLEVEL_DEFAULT. */
const ZSTD_DEFAULT_LEVEL = 3;

type EncodeLater = NonNullable<BlockEncoder['encodeLater']>;

/** One frame of `input`, at once; `dictionary` is the same object for the same dictionary. */
type EncodeFrame = (input: Uint8Array, dictionary: Uint8Array | undefined) => Uint8Array;

/**
 * Frames come from the thread pool of @mongodb-js/zstd where many may be under way. At once, and with a dictionary,
 * they come from zstd-napi when the user has installed it, which digests the dictionary once, else from the
 * WebAssembly package, which loads it for every block.
 */
async function openZstd(parameters: EncoderParameters, hashes: HashFunctions): Promise<BlockEncoder> {
  const level = zstdLevel(parameters.level);
  const [pool, single] = await Promise.all([
    import('@mongodb-js/zstd/bindings.js'),
    openNativeZstd(level).then((native) => native ?? openWasmZstd(level)),
  ]);
  // The package's own function leaves the level out.
  const { compress } = pool.default;
  const finish = (frame: Uint8Array, input: Uint8Array, start: number, end: number): Uint8Array =>
    parameters.checksum ? withContentChecksum(frame, hashes, input, start, end) : frame;
  return {
    implementation: '@mongodb-js/zstd',
    encode: (input, start, end) =>
      finish(single.encodeFrame(input.subarray(start, end), undefined), input, start, end),
    encodeLater: inBursts(async (input, start, end) => {
      const block = Buffer.from(input.buffer, input.byteOffset + start, end - start);
      return finish(asUint8Array(await compress(block, level)), input, start, end);
    }),
    withDictionary: (dictionary) => ({
      implementation: single.implementation,
      encode: (input, start, end) =>
        finish(single.encodeFrame(input.subarray(start, end), dictionary), input, start, end),
      withDictionary(): BlockEncoder {
        throw new Error('the encoder has a dictionary already');
      },
    }),
  };
}

/** Calls that go to the thread pool together. */
const BURST_CALLS = 32;

/**
 * Makes calls some at a time, at the latest when the caller waits. Given one by one each wakes a thread, which takes
 * about as long as a block of 4 KiB; of many at once only the first ones find threads asleep.
 */
function inBursts(encode: EncodeLater): EncodeLater {
  let calls: (() => void)[] = [];
  const release = () => {
    const released = calls;
    calls = [];
    for (const call of released) call();
  };
  return (input, start, end) =>
    new Promise((resolve) => {
      if (calls.length === 0) queueMicrotask(release);
      calls.push(() => resolve(encode(input, start, end)));
      if (calls.length === BURST_CALLS) release();
    });
}

interface SingleFrames {
  readonly implementation: string;
  readonly encodeFrame: EncodeFrame;
}

/**
 * The package keeps one WebAssembly instance a process, which must be initialised once: its decoder does that for
 * both (see codecs.ts).
 */
async function openWasmZstd(level: number): Promise<SingleFrames> {
  await new NodeCodecRegistry({ zstd: 'wasm' }).load('zstd');
  const zstd = await import('@bokuweb/zstd-wasm');
  const context = zstd.createCCtx();
  return {
    implementation: '@bokuweb/zstd-wasm',
    encodeFrame: (input, dictionary) =>
      dictionary === undefined
        ? zstd.compress(input, level)
        : zstd.compressUsingDict(context, input, dictionary, level),
  };
}

/** The part of zstd-napi/binding.js that is used here; the package is an optional peer. */
interface ZstdNapiBinding {
  CCtx: new () => {
    compress(target: Uint8Array, source: Uint8Array, level: number): number;
    compressUsingCDict(target: Uint8Array, source: Uint8Array, dictionary: object): number;
  };
  CDict: new (dictionary: Uint8Array, level: number) => object;
  compressBound(length: number): number;
}

/** Undefined when zstd-napi is not installed or was not built for this machine. */
async function openNativeZstd(level: number): Promise<SingleFrames | undefined> {
  const specifier = 'zstd-napi/binding.js';
  let binding: ZstdNapiBinding;
  try {
    const module = (await import(specifier)) as { default: ZstdNapiBinding };
    binding = module.default;
  } catch {
    return undefined;
  }
  const context = new binding.CCtx();
  const digested = new WeakMap<Uint8Array, object>();
  let target = new Uint8Array(64 * 1024);
  return {
    implementation: 'zstd-napi',
    encodeFrame(input, dictionary) {
      const bound = binding.compressBound(input.length);
      if (bound > target.length) target = new Uint8Array(bound);
      if (dictionary === undefined) return target.subarray(0, context.compress(target, input, level));
      let loaded = digested.get(dictionary);
      if (loaded === undefined) {
        loaded = new binding.CDict(dictionary, level);
        digested.set(dictionary, loaded);
      }
      return target.subarray(0, context.compressUsingCDict(target, input, loaded));
    },
  };
}

function zstdLevel(level: number): number {
  if (level === DEFAULT_COMPRESSION_LEVEL) return ZSTD_DEFAULT_LEVEL;
  // zstd itself takes 0 for its default; RocksDB since 10.x asks for -1 instead.
  if (level === 0) return -1;
  if (level <= 22 && level >= -(1 << 17)) return level;
  throw new InvalidArgumentError('level', String(level), `zstd has levels up to 22, not ${level}`);
}

/** Bit of the frame header descriptor: four bytes of XXH64 stand behind the last block. RFC 8878, 3.1.1. */
const CONTENT_CHECKSUM_FLAG = 0x04;
const FRAME_DESCRIPTOR_AT = 4;

function withContentChecksum(
  frame: Uint8Array,
  hashes: HashFunctions,
  input: Uint8Array,
  start: number,
  end: number,
): Uint8Array {
  const checked = new Uint8Array(frame.length + 4);
  checked.set(frame);
  checked[FRAME_DESCRIPTOR_AT]! |= CONTENT_CHECKSUM_FLAG;
  writeFixed32(checked, frame.length, hashes.xxh64Low(input, start, end));
  return checked;
}
