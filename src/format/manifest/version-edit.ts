/**
 * One record of a MANIFEST: what changed in the set of live files and in the counters of a database.
 * The shapes here hold what decode-version-edit.ts finds and what encode-version-edit.ts writes; a member that is
 * left out has no field in the record. Source: RocksDB db/version_edit.h; LevelDB db/version_edit.h (tags 1 to 9).
 */

/** On disk. */
export const EditTag = {
  comparator: 1,
  logNumber: 2,
  nextFileNumber: 3,
  lastSequence: 4,
  compactCursor: 5,
  deletedFile: 6,
  newFile: 7,
  previousLogNumber: 9,
  minLogNumberToKeep: 10,
  newFile2: 100,
  newFile3: 102,
  newFile4: 103,
  columnFamily: 200,
  columnFamilyAdd: 201,
  columnFamilyDrop: 202,
  maxColumnFamily: 203,
  inAtomicGroup: 300,
  blobFileAddition: 400,
  blobFileGarbage: 401,
  dbId: 8193,
  /** Of before the final numbers 400, 401, 8199 and 8200; these four have no length in front. */
  oldBlobFileAddition: 8194,
  oldBlobFileGarbage: 8195,
  oldWalAddition: 8196,
  oldWalDeletion: 8197,
  fullHistoryTsLow: 8198,
  walAddition: 8199,
  walDeletion: 8200,
  persistUserDefinedTimestamps: 8201,
  subcompactionProgress: 8202,
  lastCompactedManifestSize: 8203,
} as const;

/** A field with a tag that has this bit carries its length, so that it can be passed over where it is not known. */
export const IGNORABLE_TAG_BIT = 8192;

/** Fields of a new file 4, each (varint32 tag, length, bytes); `end` has no bytes. */
export const NewFileField = {
  end: 1,
  needsCompaction: 2,
  minLogNumberToKeep: 3,
  oldestBlobFile: 4,
  oldestAncestorTime: 5,
  fileCreationTime: 6,
  fileChecksum: 7,
  fileChecksumFunction: 8,
  temperature: 9,
  minTimestamp: 10,
  maxTimestamp: 11,
  uniqueId: 12,
  epochNumber: 13,
  compensatedRangeDeletionSize: 14,
  tailSize: 15,
  userDefinedTimestampsPersisted: 16,
  openMetadata: 17,
  pathId: 65,
} as const;

/** Fields of new files and blob files that are not known are refused where they have this bit, else kept. */
export const REFUSED_FIELD_BIT = 64;

/** A field that is not known here: its bytes as they stand. */
export interface UnknownField {
  readonly tag: number;
  readonly bytes: Uint8Array;
}

/** A table file that became live. Smallest and largest also cover its range tombstones. */
export interface NewFile {
  /** How it is written: LevelDB knows 7 alone, RocksDB writes 103 since 6.6. */
  readonly tag:
    | typeof EditTag.newFile
    | typeof EditTag.newFile2
    | typeof EditTag.newFile3
    | typeof EditTag.newFile4;
  readonly level: number;
  readonly number: number;
  /** Bytes. */
  readonly size: number;
  /** Internal keys, of any type: bounds have types that tables do not hold. */
  readonly smallest: Uint8Array;
  readonly largest: Uint8Array;
  /** Undefined in LevelDB's. */
  readonly smallestSeqno?: bigint;
  readonly largestSeqno?: bigint;
  readonly pathId?: number;
  readonly needsCompaction?: boolean;
  /** A copy of the edit's own, on the first of its files. */
  readonly minLogNumberToKeep?: number;
  readonly oldestBlobFile?: number;
  /** Seconds since 1970; 0: not known. */
  readonly oldestAncestorTime?: number;
  readonly fileCreationTime?: number;
  readonly fileChecksum?: Uint8Array;
  readonly fileChecksumFunction?: string;
  /** 4 hot, 8 warm, 10 cool, 12 cold, 16 ice. */
  readonly temperature?: number;
  readonly minTimestamp?: Uint8Array;
  readonly maxTimestamp?: Uint8Array;
  /** 16 bytes. */
  readonly uniqueId?: Uint8Array;
  /** Order of the files of level 0. */
  readonly epochNumber?: number;
  readonly compensatedRangeDeletionSize?: number;
  /** Bytes from the end of the data blocks to the end of the file. */
  readonly tailSize?: number;
  /** False: keys of the file, and its bounds, are stored without timestamps. */
  readonly userDefinedTimestampsPersisted?: boolean;
  readonly openMetadata?: Uint8Array;
  readonly unknown?: readonly UnknownField[];
}

export interface DeletedFile {
  readonly level: number;
  readonly number: number;
}

export interface CompactCursor {
  readonly level: number;
  readonly key: Uint8Array;
}

export interface BlobFileAddition {
  readonly number: number;
  readonly blobCount: number;
  /** Bytes of all records: 32 + key + stored value each. */
  readonly blobBytes: number;
  readonly checksumMethod: string;
  readonly checksumValue: Uint8Array;
  readonly unknown?: readonly UnknownField[];
}

export interface BlobFileGarbage {
  readonly number: number;
  readonly garbageCount: number;
  readonly garbageBytes: number;
  readonly unknown?: readonly UnknownField[];
}

export interface WalAddition {
  readonly number: number;
  /** Undefined while the log is open. */
  readonly syncedSize?: number;
}

export interface VersionEdit {
  /** The whole edit concerns this column family; 0 is not written. */
  readonly columnFamily: number;
  readonly dbId?: string;
  readonly comparator?: string;
  /** WALs below it hold nothing of this column family that is not in tables. */
  readonly logNumber?: number;
  readonly previousLogNumber?: number;
  readonly nextFileNumber?: number;
  readonly maxColumnFamily?: number;
  readonly minLogNumberToKeep?: number;
  readonly lastSequence?: bigint;
  readonly compactCursors?: readonly CompactCursor[];
  readonly deletedFiles?: readonly DeletedFile[];
  readonly newFiles?: readonly NewFile[];
  readonly blobFileAdditions?: readonly BlobFileAddition[];
  readonly blobFileGarbage?: readonly BlobFileGarbage[];
  readonly walAdditions?: readonly WalAddition[];
  /** WALs below it are gone. */
  readonly walDeletion?: number;
  readonly columnFamilyAdd?: string;
  readonly columnFamilyDrop?: boolean;
  /** In an atomic group: how many of its edits follow. */
  readonly atomicGroupRemaining?: number;
  readonly fullHistoryTsLow?: Uint8Array;
  readonly persistUserDefinedTimestamps?: boolean;
  /** Of COMPACTION_PROGRESS files alone: see subcompaction-progress.ts. */
  readonly subcompactionProgress?: Uint8Array;
  readonly lastCompactedManifestSize?: number;
  readonly unknown?: readonly UnknownField[];
}
