/**
 * The library, as far as it runs anywhere: bytes in, structures out. No module of Node, no package; files, codecs
 * and fast hashes are handed in. The edge to Node is `sstkit/node` (src/node/index.ts).
 */

export { type AsyncByteSource, RangeCache, RangeMissing, withRanges } from './bytes/async-source.ts';
export { ByteReader } from './bytes/byte-reader.ts';
export { type ByteSource, CountingSource, memorySource } from './bytes/source.ts';

export type { DecodeZstdFrames } from './codec/batch.ts';
export { type DecompressContext, decompressBlock } from './codec/decompress.ts';
export {
  type CodecName,
  CodecPending,
  type CodecRegistry,
  type CompressionName,
  CompressionType,
  type Decoder,
} from './codec/registry.ts';
export { compressionName, type TableFamily } from './codec/resolve-codec.ts';
export type { Framing } from './codec/size-prefix.ts';

export {
  BlockCache,
  type BlockCacheOptions,
  CacheFullError,
  type CacheRoleName,
} from './engine/cache/block-cache.ts';
export { type OpenTable, TableCache } from './engine/cache/table-cache.ts';
export type {
  Clock,
  DirectoryEntry,
  EntryKind,
  Environment,
  FileSource,
  FileStatus,
  FileSystem,
  RandomSource,
} from './engine/environment.ts';

export { Statistics, TICKER_NAMES, type TickerName } from './engine/statistics/statistics.ts';
export type { DecodedBlock } from './engine/table/block-store.ts';
export { type LookupEnvironment, LookupTable, type LookupTableOptions } from './engine/table/lookup-table.ts';
export type { IteratorOptions, ReadOptions } from './engine/table/read-options.ts';
export { type ReadPoint, readPoint } from './engine/table/read-point.ts';
export type { RowIterator } from './engine/table/row-iterator.ts';
export { type FoundRow, TableSet, type TableSetOptions } from './engine/table/table-set.ts';
export type { Version } from './engine/table/versions.ts';

export {
  CorruptionError,
  type ErrorPlace,
  InvalidArgumentError,
  IoError,
  Pending,
  SstError,
  UnsupportedError,
  withPending,
} from './errors.ts';

export { BlockIterator } from './format/block/block-iterator.ts';
export { type BlockLayout, decodeBlockLayout } from './format/block/block-layout.ts';
export { BLOCK_TRAILER_SIZE, type BlockHandle, decodeBlockHandle } from './format/block-handle.ts';
export { BlockList } from './format/block-list.ts';
export { type BlockPipelineOptions, type LoadedBlock, visitBlocks } from './format/block-pipeline.ts';
export type { BlockReader, StoredBlock } from './format/block-reader.ts';
export type { BlockType } from './format/block-type.ts';
export type { ByteArena } from './format/byte-arena.ts';
export { type CuckooSummary, type CuckooTable, openCuckooTable } from './format/cuckoo/cuckoo-table.ts';
export {
  type BlobIndex,
  decodeBlobIndex,
  decodePreferredSeqno,
  decodeWideColumns,
  type WideColumn,
} from './format/entry-value.ts';
export {
  detectFileKind,
  type FileKind,
  type FileKindDetail,
  type FileKindResult,
} from './format/file-kind.ts';
export { type FileName, formatFileName, type NumberedFileType, parseFileName } from './format/file-name.ts';
export {
  decodeFooter,
  FOOTER_SIZE,
  type Footer,
  LEGACY_FOOTER_SIZE,
  MAX_FORMAT_VERSION,
  readFooter,
} from './format/footer.ts';
export { type DataBlockList, type IndexProblem, listDataBlocks } from './format/index/data-blocks.ts';
export {
  IndexBlockIterator,
  type IndexEncoding,
  IndexType,
  type IndexTypeName,
  indexTypeName,
} from './format/index/index-block-iterator.ts';
export {
  compareTrailers,
  isMaxSeqno,
  seqnoText,
  TRAILER_SIZE,
  trailerSeqno,
  trailerType,
} from './format/internal-key.ts';
export {
  decodePredecessorWal,
  decodeTimestampSizes,
  type LogTimestampSize,
  type PredecessorWal,
} from './format/log/log-control.ts';
export type { LogControlKind } from './format/log/log-format.ts';
export {
  type LogEnd,
  type LogFault,
  LogReader,
  type LogReaderOptions,
  type LogRecord,
} from './format/log/log-reader.ts';
export { PEBBLE_MAGIC, type TableFormat, TableMagic, tableFormatOf } from './format/magic.ts';
export { decodeCurrent } from './format/manifest/current-file.ts';
export { decodeVersionEdit } from './format/manifest/decode-version-edit.ts';
export { type ManifestEvents, type ReadManifest, readManifest } from './format/manifest/manifest-reader.ts';
export {
  type LevelFiles,
  type LiveBlobFile,
  levelsOf,
  type ManifestColumnFamily,
  ManifestState,
} from './format/manifest/manifest-state.ts';
export {
  type BlobFileAddition,
  type BlobFileGarbage,
  type CompactCursor,
  type DeletedFile,
  EditTag,
  type NewFile,
  type UnknownField,
  type VersionEdit,
  type WalAddition,
} from './format/manifest/version-edit.ts';
export { decodeMetaindex, type MetaindexEntry } from './format/metaindex.ts';
export { openPlainTable, type PlainTable } from './format/plain/plain-table.ts';
export type { PlainTableIterator } from './format/plain/plain-table-iterator.ts';
export {
  decodeProperties,
  decodeSeqnoTimeMap,
  type PropertyName,
  type PropertyValue,
  propertyJsonName,
  type TableProperties,
  UNKNOWN_UINT64,
} from './format/properties.ts';
export { decodeRangeDelBlock, type RangeTombstone } from './format/range-del-block.ts';
export { findEarlierFooter, type RecoveredTable, recoverTable } from './format/recover-table.ts';
export {
  type EntryShape,
  type EntrySource,
  effectiveSeqnoText,
  userKeyEnd,
} from './format/table-entry.ts';
export {
  type OpenTableOptions,
  openTable,
  openTableAt,
  type TableEnvironment,
  type TableIndex,
  type TableReader,
} from './format/table-reader.ts';
export { entryTypeName, isPointType, ValueType } from './format/value-type.ts';
export { decodeWriteBatch, WriteBatchReader } from './format/wal/decode-write-batch.ts';
export { WriteBatchWriter } from './format/wal/encode-write-batch.ts';
export {
  type WalBatch,
  type WalControl,
  type WalEnvironment,
  WalReader,
  type WalRecord,
} from './format/wal/wal-reader.ts';
export type { BatchOperation, BatchOperationType, TimestampSizes } from './format/wal/write-batch.ts';

export { bufferChecksum, computeBlockChecksum, contextModifier } from './hash/block-checksum.ts';
export {
  type HashKernels,
  kernelHashFunctions,
  twinHashFunctions,
  type XxhashWasm,
} from './hash/hash-functions.ts';
export { type KeyHash, twinKeyHash } from './hash/key-hash.ts';
export { type ChecksumName, ChecksumType, checksumName, type HashFunctions } from './hash/registry.ts';

export type { Kernels } from './kernels/kernels.ts';
export { openKernels } from './kernels/open-kernels.ts';

export {
  bytewiseComparator,
  COMPARATOR_NAMES,
  type Comparator,
  comparatorByName,
  reverseBytewiseComparator,
} from './operators/comparator.ts';
export {
  type MergeOperator,
  mergeOperatorByName,
  type NamedMergeOperator,
} from './operators/merge-operator.ts';
export {
  cappedPrefix,
  fixedPrefix,
  noopPrefix,
  type PrefixExtractor,
  prefixExtractorByName,
} from './operators/prefix-extractor.ts';
