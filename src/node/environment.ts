import { getRandomValues } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { CodecName } from '../codec/registry.ts';
import type { Clock, Environment, RandomSource } from '../engine/environment.ts';
import { UnsupportedError } from '../errors.ts';
import { kernelHashFunctions, twinHashFunctions } from '../hash/hash-functions.ts';
import { type KeyHash, twinKeyHash } from '../hash/key-hash.ts';
import type { Kernels } from '../kernels/kernels.ts';
import { openKernels } from '../kernels/open-kernels.ts';
import type { TextKernel } from '../kernels/text-kernel.ts';
import { createZstdFramesDecoder, type NodeCodecOptions, NodeCodecRegistry } from './codecs.ts';
import { nodeFileSystem } from './file-system.ts';

/** With the hash of keys, which only filters need, and what prints bytes fast, where there is WebAssembly. */
export interface NodeEnvironment extends Environment {
  readonly keyHash: KeyHash;
  readonly textKernel: TextKernel | undefined;
}

/** Parts that stand in for those of this machine: a simulated directory, a clock that stands still. */
export interface NodeEnvironmentOptions extends Partial<NodeEnvironment>, NodeCodecOptions {}

/** The environment of a Node process: awaits the WebAssembly kernels once, codecs load when first needed. */
export async function openNodeEnvironment(options: NodeEnvironmentOptions = {}): Promise<NodeEnvironment> {
  const kernelsWanted = options.hashes === undefined || options.keyHash === undefined;
  const opened = kernelsWanted ? await openHashes() : undefined;
  return {
    files: options.files ?? nodeFileSystem,
    hashes: options.hashes ?? opened!.hashes,
    keyHash: options.keyHash ?? opened!.keyHash,
    codecs: options.codecs ?? new NodeCodecRegistry({ snappyKernel: opened?.kernels, ...options }),
    textKernel: opened?.kernels?.text,
    decodeZstdFrames: options.decodeZstdFrames ?? createZstdFramesDecoder(),
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
  };
}

interface Hashes extends Pick<NodeEnvironment, 'hashes' | 'keyHash'> {
  /** Undefined where there is no WebAssembly, or none with SIMD. */
  kernels: Kernels | undefined;
}

async function openHashes(): Promise<Hashes> {
  try {
    const loadXxhash = import('xxhash-wasm').then((module) => module.default());
    const [kernels, xxh] = await Promise.all([openKernels(), loadXxhash]);
    return { hashes: kernelHashFunctions(kernels, xxh), keyHash: kernels, kernels };
  } catch (error) {
    // Slower, and everything still works.
    if (!(error instanceof UnsupportedError)) throw error;
    return { hashes: twinHashFunctions(), keyHash: twinKeyHash(), kernels: undefined };
  }
}

const systemClock: Clock = {
  nowMicros: () => Math.floor((performance.timeOrigin + performance.now()) * 1000),
  monotonicNanos: () => performance.now() * 1e6,
};

const systemRandom: RandomSource = {
  uint32: () => getRandomValues(new Uint32Array(1))[0]!,
};

export interface Implementation {
  /** What it does: `snappy`, `crc32c`. */
  name: string;
  /** Who does it, with version: `hysnappy 1.1.1`; or why nobody does. */
  implementation: string;
}

const CODEC_NAMES: readonly { name: string; codec: CodecName }[] = [
  { name: 'snappy', codec: 'snappy' },
  { name: 'zlib', codec: 'deflate_raw' },
  { name: 'bzip2', codec: 'bzip2' },
  { name: 'lz4', codec: 'lz4' },
  { name: 'zstd', codec: 'zstd' },
];

/** Who decodes and who hashes, with versions; loads every codec, for `--version --verbose` only. */
export async function describeEnvironment(environment?: Environment): Promise<Implementation[]> {
  const { codecs, hashes } = environment ?? (await openNodeEnvironment());
  const rows: Implementation[] = [];
  for (const { name, codec } of CODEC_NAMES) {
    try {
      await codecs.load(codec);
      rows.push({ name, implementation: withVersion(codecs.decoder(codec).implementation) });
    } catch (error) {
      rows.push({ name, implementation: error instanceof Error ? error.message : String(error) });
    }
  }
  rows.push({ name: 'zstd (batches)', implementation: withVersion('@mongodb-js/zstd') });
  // The same kernels serve both.
  rows.push({ name: 'snappy (batches)', implementation: hashes.implementations.xxh3! });
  for (const [name, implementation] of Object.entries(hashes.implementations)) {
    rows.push({ name, implementation: withVersion(implementation) });
  }
  return rows;
}

/** The version beside the name, when the name is that of a package; else the name as it is. */
function withVersion(implementation: string): string {
  if (implementation === 'node:zlib') return `node:zlib ${process.versions.zlib}`;
  const version = packageVersion(implementation);
  return version === undefined ? implementation : `${implementation} ${version}`;
}

/** Looks for the package.json above the package's main file: few packages export it by name. */
function packageVersion(packageName: string): string | undefined {
  let folder: string;
  try {
    folder = dirname(createRequire(import.meta.url).resolve(packageName));
  } catch {
    return undefined;
  }
  for (let parent = dirname(folder); parent !== folder; folder = parent, parent = dirname(folder)) {
    try {
      const found = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      if (found.name === packageName) return found.version;
    } catch {
      // No package.json in this folder, or one that is not JSON: the next one up may be the package's.
    }
  }
  return undefined;
}
