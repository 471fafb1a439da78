/** The edge to Node: files, codecs by packages, WebAssembly kernels. The rest of the library is in src/index.ts. */

export type {
  Clock,
  DirectoryEntry,
  EntryKind,
  Environment,
  FileSource,
  FileStatus,
  FileSystem,
  RandomSource,
} from '../engine/environment.ts';
export { createZstdFramesDecoder, type NodeCodecOptions, NodeCodecRegistry } from './codecs.ts';
export {
  describeEnvironment,
  type Implementation,
  type NodeEnvironment,
  type NodeEnvironmentOptions,
  openNodeEnvironment,
} from './environment.ts';
export { openFileSource } from './file-source.ts';
export { nodeFileSystem } from './file-system.ts';
