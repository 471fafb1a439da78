import { ByteWriter, encodeVarint } from '../../bytes/byte-writer.ts';
import { utf8Bytes } from '../../bytes/text.ts';
import {
  type BlobFileAddition,
  type BlobFileGarbage,
  EditTag,
  type NewFile,
  NewFileField,
  type UnknownField,
  type VersionEdit,
  type WalAddition,
} from './version-edit.ts';

/**
 * Encodes a version edit, its fields in the order in which RocksDB 11.9 writes them, which is LevelDB's order too for
 * the tags that LevelDB has. What an edit with the old tags 8194 to 8197 said is written with the new ones. Unknown
 * fields come last. Source: RocksDB db/version_edit.cc; LevelDB db/version_edit.cc.
 */
export function encodeVersionEdit(edit: VersionEdit): Uint8Array {
  const out = new ByteWriter();
  if (edit.dbId !== undefined) tagged(out, EditTag.dbId, utf8Bytes(edit.dbId));
  if (edit.comparator !== undefined) tagged(out, EditTag.comparator, utf8Bytes(edit.comparator));
  number(out, EditTag.logNumber, edit.logNumber);
  number(out, EditTag.previousLogNumber, edit.previousLogNumber);
  number(out, EditTag.nextFileNumber, edit.nextFileNumber);
  number(out, EditTag.maxColumnFamily, edit.maxColumnFamily);
  number(out, EditTag.minLogNumberToKeep, edit.minLogNumberToKeep);
  if (edit.lastSequence !== undefined) {
    out.varint(EditTag.lastSequence);
    out.varintBig(edit.lastSequence);
  }
  for (const { level, key } of edit.compactCursors ?? []) {
    out.varint(EditTag.compactCursor);
    out.varint(level);
    out.lengthPrefixed(key);
  }
  for (const { level, number: fileNumber } of edit.deletedFiles ?? []) {
    out.varint(EditTag.deletedFile);
    out.varint(level);
    out.varint(fileNumber);
  }
  for (const file of edit.newFiles ?? []) encodeNewFile(out, file);
  for (const file of edit.blobFileAdditions ?? []) encodeBlobFileAddition(out, file);
  for (const file of edit.blobFileGarbage ?? []) encodeBlobFileGarbage(out, file);
  for (const wal of edit.walAdditions ?? []) tagged(out, EditTag.walAddition, encodeWalAddition(wal));
  if (edit.walDeletion !== undefined) tagged(out, EditTag.walDeletion, encodeVarint(edit.walDeletion));
  if (edit.columnFamily !== 0) number(out, EditTag.columnFamily, edit.columnFamily);
  if (edit.columnFamilyAdd !== undefined)
    tagged(out, EditTag.columnFamilyAdd, utf8Bytes(edit.columnFamilyAdd));
  if (edit.columnFamilyDrop) out.varint(EditTag.columnFamilyDrop);
  number(out, EditTag.inAtomicGroup, edit.atomicGroupRemaining);
  if (edit.fullHistoryTsLow !== undefined) tagged(out, EditTag.fullHistoryTsLow, edit.fullHistoryTsLow);
  const persisted = edit.persistUserDefinedTimestamps;
  if (persisted !== undefined) tagged(out, EditTag.persistUserDefinedTimestamps, byte(persisted ? 1 : 0));
  const progress = edit.subcompactionProgress;
  if (progress !== undefined) tagged(out, EditTag.subcompactionProgress, progress);
  const manifestSize = edit.lastCompactedManifestSize;
  if (manifestSize !== undefined) tagged(out, EditTag.lastCompactedManifestSize, encodeVarint(manifestSize));
  unknownFields(out, edit.unknown);
  return out.copy();
}

/** Tag and fields. */
export function encodeNewFile(out: ByteWriter, file: NewFile): void {
  out.varint(file.tag);
  out.varint(file.level);
  out.varint(file.number);
  if (file.tag === EditTag.newFile3) out.varint(file.pathId ?? 0);
  out.varint(file.size);
  out.lengthPrefixed(file.smallest);
  out.lengthPrefixed(file.largest);
  if (file.tag === EditTag.newFile) return;
  out.varintBig(file.smallestSeqno ?? 0n);
  out.varintBig(file.largestSeqno ?? 0n);
  if (file.tag === EditTag.newFile4) encodeNewFileFields(out, file);
}

function encodeNewFileFields(out: ByteWriter, file: NewFile): void {
  const put = (tag: number, bytes: Uint8Array | undefined): void => {
    if (bytes !== undefined) tagged(out, tag, bytes);
  };
  const putNumber = (tag: number, value: number | undefined): void => {
    if (value !== undefined) tagged(out, tag, encodeVarint(value));
  };
  putNumber(NewFileField.oldestAncestorTime, file.oldestAncestorTime);
  putNumber(NewFileField.fileCreationTime, file.fileCreationTime);
  putNumber(NewFileField.epochNumber, file.epochNumber);
  put(NewFileField.fileChecksum, file.fileChecksum);
  if (file.fileChecksumFunction !== undefined) {
    put(NewFileField.fileChecksumFunction, utf8Bytes(file.fileChecksumFunction));
  }
  if (file.pathId !== undefined) put(NewFileField.pathId, byte(file.pathId));
  if (file.temperature !== undefined) put(NewFileField.temperature, byte(file.temperature));
  if (file.needsCompaction !== undefined)
    put(NewFileField.needsCompaction, byte(file.needsCompaction ? 1 : 0));
  if (file.minLogNumberToKeep !== undefined)
    put(NewFileField.minLogNumberToKeep, fixed64(file.minLogNumberToKeep));
  putNumber(NewFileField.oldestBlobFile, file.oldestBlobFile);
  put(NewFileField.uniqueId, file.uniqueId);
  putNumber(NewFileField.compensatedRangeDeletionSize, file.compensatedRangeDeletionSize);
  putNumber(NewFileField.tailSize, file.tailSize);
  const persisted = file.userDefinedTimestampsPersisted;
  if (persisted !== undefined) put(NewFileField.userDefinedTimestampsPersisted, byte(persisted ? 1 : 0));
  put(NewFileField.minTimestamp, file.minTimestamp);
  put(NewFileField.maxTimestamp, file.maxTimestamp);
  put(NewFileField.openMetadata, file.openMetadata);
  unknownFields(out, file.unknown);
  out.varint(NewFileField.end);
}

const BLOB_FIELDS_END = 0;

function encodeBlobFileAddition(out: ByteWriter, file: BlobFileAddition): void {
  out.varint(EditTag.blobFileAddition);
  out.varint(file.number);
  out.varint(file.blobCount);
  out.varint(file.blobBytes);
  out.lengthPrefixed(utf8Bytes(file.checksumMethod));
  out.lengthPrefixed(file.checksumValue);
  unknownFields(out, file.unknown);
  out.varint(BLOB_FIELDS_END);
}

function encodeBlobFileGarbage(out: ByteWriter, file: BlobFileGarbage): void {
  out.varint(EditTag.blobFileGarbage);
  out.varint(file.number);
  out.varint(file.garbageCount);
  out.varint(file.garbageBytes);
  unknownFields(out, file.unknown);
  out.varint(BLOB_FIELDS_END);
}

function encodeWalAddition({ number: walNumber, syncedSize }: WalAddition): Uint8Array {
  const out = new ByteWriter(32);
  out.varint(walNumber);
  if (syncedSize !== undefined) {
    out.varint(2);
    out.varint(syncedSize);
  }
  out.varint(1);
  return out.copy();
}

function unknownFields(out: ByteWriter, fields: readonly UnknownField[] | undefined): void {
  for (const { tag, bytes } of fields ?? []) tagged(out, tag, bytes);
}

function tagged(out: ByteWriter, tag: number, bytes: Uint8Array): void {
  out.varint(tag);
  out.lengthPrefixed(bytes);
}

function number(out: ByteWriter, tag: number, value: number | undefined): void {
  if (value === undefined) return;
  out.varint(tag);
  out.varint(value);
}

function fixed64(value: number): Uint8Array {
  const out = new ByteWriter(8);
  out.fixed64(BigInt(value));
  return out.copy();
}

function byte(value: number): Uint8Array {
  return Uint8Array.of(value);
}
