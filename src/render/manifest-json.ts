import type { UnknownField } from '../format/manifest/version-edit.ts';
import type { EditRecord, FileView, KeyView, LiveSet } from '../tools/dump/manifest-dump.ts';
import { type BytesMode, formatHex, formatKey } from './key-format.ts';

/** Pieces of a MANIFEST's JSON document (schema/dump.schema.json). Members that are undefined are left out by JSON. */

interface JsonObject {
  readonly [name: string]: unknown;
}

/** One record: its place, and a member for each tag that is there. */
export function editJson({ offset, size, edit }: EditRecord, bytes: BytesMode): JsonObject {
  const {
    columnFamily,
    lastSequence,
    compactCursors,
    newFiles,
    blobFileAdditions,
    blobFileGarbage,
    fullHistoryTsLow,
    subcompactionProgress,
    unknown,
    ...plain
  } = edit;
  return {
    offset,
    size,
    ...(columnFamily === 0 ? {} : { columnFamily }),
    ...plain,
    lastSequence: lastSequence?.toString(),
    compactCursors: compactCursors?.map(({ level, key }) => ({
      level,
      ...keyJson('key', key, bytes),
    })),
    newFiles: newFiles?.map((file) => newFileJson(file, bytes)),
    blobFileAdditions: blobFileAdditions?.map(({ checksumValue, unknown: rest, ...file }) => ({
      ...file,
      checksumValue: formatHex(checksumValue),
      unknown: unknownJson(rest),
    })),
    blobFileGarbage: blobFileGarbage?.map(({ unknown: rest, ...file }) => ({
      ...file,
      unknown: unknownJson(rest),
    })),
    fullHistoryTsLow: hexOf(fullHistoryTsLow),
    subcompactionProgress: hexOf(subcompactionProgress),
    unknown: unknownJson(unknown),
  };
}

/** A file with all that its edit says of it. `smallest` and `largest` are user keys, with their trailers beside them. */
function newFileJson(file: FileView, bytes: BytesMode): JsonObject {
  const { tag, smallest, largest, smallestSeqno, largestSeqno, unknown, ...plain } = file;
  const { level, number, size, ...fields } = plain;
  const { fileChecksum, minTimestamp, maxTimestamp, uniqueId, openMetadata, ...others } = fields;
  return {
    tag,
    level,
    number,
    size,
    ...keyJson('smallest', smallest, bytes),
    ...keyJson('largest', largest, bytes),
    smallestSeqno: smallestSeqno?.toString(),
    largestSeqno: largestSeqno?.toString(),
    ...others,
    fileChecksum: hexOf(fileChecksum),
    minTimestamp: hexOf(minTimestamp),
    maxTimestamp: hexOf(maxTimestamp),
    uniqueId: hexOf(uniqueId),
    openMetadata: hexOf(openMetadata),
    unknown: unknownJson(unknown),
  };
}

/** Counters and the live files by the name of their column family. */
export function liveSetJson({ families, state, end }: LiveSet, bytes: BytesMode): JsonObject {
  const live = Object.fromEntries(
    families.map(({ family, levels }) => [
      family.name,
      {
        id: family.id,
        comparator: family.comparator ?? null,
        logNumber: family.logNumber,
        levels: levels.map(({ level, files }) => ({
          level,
          files: files.map((file) => liveFileJson(file, bytes)),
        })),
        blobFiles: family.blobFiles.size === 0 ? undefined : [...family.blobFiles.values()],
      },
    ]),
  );
  const { dbId, nextFileNumber, lastSequence, previousLogNumber, minLogNumberToKeep, maxColumnFamily } =
    state;
  return {
    end,
    counters: {
      dbId,
      nextFileNumber,
      lastSequence: lastSequence?.toString(),
      previousLogNumber,
      minLogNumberToKeep,
      maxColumnFamily,
    },
    live,
  };
}

function liveFileJson(
  { number, size, smallest, largest, smallestSeqno, largestSeqno }: FileView,
  bytes: BytesMode,
): JsonObject {
  return {
    number,
    size,
    ...keyJson('smallest', smallest, bytes),
    ...keyJson('largest', largest, bytes),
    smallestSeqno: smallestSeqno?.toString() ?? null,
    largestSeqno: largestSeqno?.toString() ?? null,
  };
}

function keyJson(name: string, { userKey, seqno, type }: KeyView, bytes: BytesMode): JsonObject {
  return { [name]: formatKey(userKey, bytes), [`${name}Trailer`]: { seqno, type } };
}

function unknownJson(fields: readonly UnknownField[] | undefined): JsonObject[] | undefined {
  return fields?.map(({ tag, bytes }) => ({ tag, bytes: formatHex(bytes) }));
}

function hexOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : formatHex(bytes);
}
