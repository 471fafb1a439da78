import type { CompressionName } from '../../codec/registry.ts';

/** In the order of their numbers; undefined: nothing is compressed with it, there or here. */
export const COMPRESSION_TYPES: ReadonlyMap<string, CompressionName | undefined> = new Map([
  ['kNoCompression', 'none'],
  ['kSnappyCompression', 'snappy'],
  ['kZlibCompression', 'zlib'],
  ['kBZip2Compression', 'bzip2'],
  ['kLZ4Compression', 'lz4'],
  ['kLZ4HCCompression', 'lz4hc'],
  ['kXpressCompression', 'xpress'],
  ['kZSTD', 'zstd'],
]);
