import { ByteReader } from '../../bytes/byte-reader.ts';
import { utf8 } from '../../bytes/text.ts';
import { UnsupportedError } from '../../errors.ts';
import { TRAILER_SIZE } from '../internal-key.ts';
import {
  type BlobFileAddition,
  type BlobFileGarbage,
  EditTag,
  IGNORABLE_TAG_BIT,
  type NewFile,
  NewFileField,
  REFUSED_FIELD_BIT,
  type UnknownField,
  type VersionEdit,
  type WalAddition,
} from './version-edit.ts';

type Mutable<T> = { -readonly [Member in keyof T]: T[Member] };
type Lists =
  | 'compactCursors'
  | 'deletedFiles'
  | 'newFiles'
  | 'blobFileAdditions'
  | 'blobFileGarbage'
  | 'walAdditions';
type Element<Name extends Lists> = NonNullable<VersionEdit[Name]>[number];

const MALFORMED = 'manifest_edit';

/**
 * Decodes one version edit: repeated (varint32 tag, fields by the tag). Of a tag that stands twice the last counts,
 * lists are gathered. Bytes are copied: the edit does not hold on to the record.
 * Throws CorruptionError `manifest_edit` where the fields do not fit, UnsupportedError for a tag, or a field of a new
 * file or a blob file, that is not known and must not be passed over; what may be is kept in `unknown`.
 * Source: RocksDB db/version_edit.cc, db/blob/blob_file_addition.cc, db/wal_edit.cc.
 */
export function decodeVersionEdit(payload: Uint8Array): VersionEdit {
  const reader = new ByteReader(payload, MALFORMED);
  const edit: Mutable<VersionEdit> = { columnFamily: 0 };
  while (reader.remaining > 0) decodeField(reader, edit);
  return edit;
}

function decodeField(reader: ByteReader, edit: Mutable<VersionEdit>): void {
  const tag = reader.varint32();
  switch (tag) {
    case EditTag.comparator:
      edit.comparator = utf8(reader.lengthPrefixed());
      return;
    case EditTag.logNumber:
      edit.logNumber = reader.varint64();
      return;
    case EditTag.nextFileNumber:
      edit.nextFileNumber = reader.varint64();
      return;
    case EditTag.lastSequence:
      edit.lastSequence = reader.varint64Big();
      return;
    case EditTag.compactCursor:
      push(edit, 'compactCursors', { level: reader.varint32(), key: internalKey(reader) });
      return;
    case EditTag.deletedFile:
      push(edit, 'deletedFiles', { level: reader.varint32(), number: reader.varint64() });
      return;
    case EditTag.newFile:
    case EditTag.newFile2:
    case EditTag.newFile3:
    case EditTag.newFile4:
      push(edit, 'newFiles', decodeNewFile(reader, tag));
      return;
    case EditTag.previousLogNumber:
      edit.previousLogNumber = reader.varint64();
      return;
    case EditTag.minLogNumberToKeep:
      edit.minLogNumberToKeep = reader.varint64();
      return;
    case EditTag.columnFamily:
      edit.columnFamily = reader.varint32();
      return;
    case EditTag.columnFamilyAdd:
      edit.columnFamilyAdd = utf8(reader.lengthPrefixed());
      return;
    case EditTag.columnFamilyDrop:
      edit.columnFamilyDrop = true;
      return;
    case EditTag.maxColumnFamily:
      edit.maxColumnFamily = reader.varint32();
      return;
    case EditTag.inAtomicGroup:
      edit.atomicGroupRemaining = reader.varint32();
      return;
    case EditTag.blobFileAddition:
    case EditTag.oldBlobFileAddition:
      push(edit, 'blobFileAdditions', decodeBlobFileAddition(reader));
      return;
    case EditTag.blobFileGarbage:
    case EditTag.oldBlobFileGarbage:
      push(edit, 'blobFileGarbage', decodeBlobFileGarbage(reader));
      return;
    default:
      decodeIgnorable(reader, tag, edit);
  }
}

/** Tags that older readers pass over; all but the four old ones begin with their length. */
function decodeIgnorable(reader: ByteReader, tag: number, edit: Mutable<VersionEdit>): void {
  if ((tag & IGNORABLE_TAG_BIT) === 0) {
    throw new UnsupportedError(
      'version edit tag',
      tag,
      `version edit tag ${tag} is not known, and must not be ignored`,
    );
  }
  if (tag === EditTag.oldWalAddition) {
    push(edit, 'walAdditions', decodeWalAddition(reader));
    return;
  }
  if (tag === EditTag.oldWalDeletion) {
    edit.walDeletion = reader.varint64();
    return;
  }
  const bytes = reader.lengthPrefixed();
  const field = new ByteReader(bytes, MALFORMED);
  switch (tag) {
    case EditTag.dbId:
      edit.dbId = utf8(bytes);
      return;
    case EditTag.fullHistoryTsLow:
      if (bytes.length === 0) reader.fail('full_history_ts_low is empty');
      edit.fullHistoryTsLow = bytes.slice();
      return;
    case EditTag.walAddition:
      push(edit, 'walAdditions', decodeWalAddition(field));
      break;
    case EditTag.walDeletion:
      edit.walDeletion = field.varint64();
      break;
    case EditTag.persistUserDefinedTimestamps:
      edit.persistUserDefinedTimestamps = flag(field, 'persist_user_defined_timestamps');
      break;
    case EditTag.subcompactionProgress:
      edit.subcompactionProgress = bytes.slice();
      return;
    case EditTag.lastCompactedManifestSize:
      edit.lastCompactedManifestSize = field.varint64();
      break;
    default:
      edit.unknown = [...(edit.unknown ?? []), { tag, bytes: bytes.slice() }];
      return;
  }
  atEnd(field, `tag ${tag}`);
}

/** What follows the tag. Throws as decodeVersionEdit does. */
export function decodeNewFile(reader: ByteReader, tag: NewFile['tag']): NewFile {
  const level = reader.varint32();
  const number = reader.varint64();
  const pathId = tag === EditTag.newFile3 ? reader.varint32() : undefined;
  const size = reader.varint64();
  const file: Mutable<NewFile> = {
    tag,
    level,
    number,
    size,
    smallest: internalKey(reader),
    largest: internalKey(reader),
  };
  if (pathId !== undefined) file.pathId = pathId;
  if (tag === EditTag.newFile) return file;
  file.smallestSeqno = reader.varint64Big();
  file.largestSeqno = reader.varint64Big();
  if (tag !== EditTag.newFile4) return file;
  for (;;) {
    const fieldTag = reader.varint32();
    if (fieldTag === NewFileField.end) return file;
    const bytes = reader.lengthPrefixed();
    decodeNewFileField(fieldTag, bytes, file);
  }
}

function decodeNewFileField(tag: number, bytes: Uint8Array, file: Mutable<NewFile>): void {
  const field = new ByteReader(bytes, MALFORMED);
  switch (tag) {
    case NewFileField.needsCompaction:
      file.needsCompaction = flag(field, 'need_compaction');
      break;
    case NewFileField.minLogNumberToKeep: {
      const number = field.fixed64();
      if (number > BigInt(Number.MAX_SAFE_INTEGER)) field.fail(`log number ${number} is above 2^53 - 1`);
      file.minLogNumberToKeep = Number(number);
      break;
    }
    case NewFileField.oldestBlobFile:
      file.oldestBlobFile = field.varint64();
      break;
    case NewFileField.oldestAncestorTime:
      file.oldestAncestorTime = field.varint64();
      break;
    case NewFileField.fileCreationTime:
      file.fileCreationTime = field.varint64();
      break;
    case NewFileField.fileChecksum:
      file.fileChecksum = bytes.slice();
      return;
    case NewFileField.fileChecksumFunction:
      file.fileChecksumFunction = utf8(bytes);
      return;
    case NewFileField.temperature:
      file.temperature = field.byte();
      break;
    case NewFileField.minTimestamp:
      file.minTimestamp = bytes.slice();
      return;
    case NewFileField.maxTimestamp:
      file.maxTimestamp = bytes.slice();
      return;
    case NewFileField.uniqueId:
      file.uniqueId = field.view(16).slice();
      break;
    case NewFileField.epochNumber:
      file.epochNumber = field.varint64();
      break;
    case NewFileField.compensatedRangeDeletionSize:
      file.compensatedRangeDeletionSize = field.varint64();
      break;
    case NewFileField.tailSize:
      file.tailSize = field.varint64();
      break;
    case NewFileField.userDefinedTimestampsPersisted:
      file.userDefinedTimestampsPersisted = flag(field, 'user_defined_timestamps_persisted');
      break;
    case NewFileField.openMetadata:
      file.openMetadata = bytes.slice();
      return;
    case NewFileField.pathId:
      file.pathId = field.byte();
      break;
    default:
      file.unknown = keepUnknown(file.unknown, tag, bytes, 'a new file');
      return;
  }
  atEnd(field, `field ${tag} of a new file`);
}

function decodeBlobFileAddition(reader: ByteReader): BlobFileAddition {
  const addition: Mutable<BlobFileAddition> = {
    number: reader.varint64(),
    blobCount: reader.varint64(),
    blobBytes: reader.varint64(),
    checksumMethod: utf8(reader.lengthPrefixed()),
    checksumValue: reader.lengthPrefixed().slice(),
  };
  decodeBlobFields(reader, addition);
  return addition;
}

function decodeBlobFileGarbage(reader: ByteReader): BlobFileGarbage {
  const garbage: Mutable<BlobFileGarbage> = {
    number: reader.varint64(),
    garbageCount: reader.varint64(),
    garbageBytes: reader.varint64(),
  };
  decodeBlobFields(reader, garbage);
  return garbage;
}

/** Repeated (varint32 tag, length, bytes) until tag 0; none is in use. */
function decodeBlobFields(
  reader: ByteReader,
  file: Mutable<BlobFileAddition> | Mutable<BlobFileGarbage>,
): void {
  for (let tag = reader.varint32(); tag !== 0; tag = reader.varint32()) {
    file.unknown = keepUnknown(file.unknown, tag, reader.lengthPrefixed(), 'a blob file');
  }
}

const WAL_END = 1;
const WAL_SYNCED_SIZE = 2;

/** varint64 number, repeated (varint32 tag, varint64 by the tag) until tag 1. */
function decodeWalAddition(reader: ByteReader): WalAddition {
  const wal: Mutable<WalAddition> = { number: reader.varint64() };
  for (let tag = reader.varint32(); tag !== WAL_END; tag = reader.varint32()) {
    if (tag !== WAL_SYNCED_SIZE) {
      throw new UnsupportedError('WAL field', tag, `field ${tag} of a WAL is not known`);
    }
    wal.syncedSize = reader.varint64();
  }
  return wal;
}

function keepUnknown(
  known: readonly UnknownField[] | undefined,
  tag: number,
  bytes: Uint8Array,
  what: string,
): UnknownField[] {
  if ((tag & REFUSED_FIELD_BIT) !== 0) {
    throw new UnsupportedError(
      'version edit field',
      tag,
      `field ${tag} of ${what} is not known, and must not be ignored`,
    );
  }
  return [...(known ?? []), { tag, bytes: bytes.slice() }];
}

function push<Name extends Lists>(edit: Mutable<VersionEdit>, name: Name, element: Element<Name>): void {
  const list = edit[name] as Element<Name>[] | undefined;
  if (list === undefined) edit[name] = [element] as unknown as Mutable<VersionEdit>[Name];
  else list.push(element);
}

/** Length-prefixed; its type is not looked at, as bounds may have one that is not known. */
function internalKey(reader: ByteReader): Uint8Array {
  const key = reader.lengthPrefixed();
  if (key.length < TRAILER_SIZE)
    reader.fail(`an internal key of ${key.length} bytes has no room for its trailer`);
  return key.slice();
}

function flag(reader: ByteReader, name: string): boolean {
  const byte = reader.byte();
  if (byte > 1) reader.fail(`${name} is ${byte}, neither 0 nor 1`);
  return byte === 1;
}

function atEnd(reader: ByteReader, what: string): void {
  if (reader.remaining > 0) reader.fail(`${what} has ${reader.remaining} bytes behind its value`);
}
