import { ByteReader } from '../../bytes/byte-reader.ts';
import { ByteWriter, encodeVarint } from '../../bytes/byte-writer.ts';
import { UnsupportedError } from '../../errors.ts';
import { decodeNewFile } from './decode-version-edit.ts';
import { encodeNewFile } from './encode-version-edit.ts';
import { EditTag, type NewFile, type UnknownField } from './version-edit.ts';

/**
 * How far a compaction has come that can be taken up again: the value of tag 8202, in COMPACTION_PROGRESS files alone.
 * Each record has what was added since the one before. Source: RocksDB db/version_edit.h, SubcompactionProgress.
 */
export interface SubcompactionProgress {
  /** Internal key of the first entry that is not compacted yet. */
  readonly nextKey?: Uint8Array;
  readonly inputRecords?: number;
  readonly outputLevel?: SubcompactionOutput;
  readonly proximalOutputLevel?: SubcompactionOutput;
  readonly unknown?: readonly UnknownField[];
}

export interface SubcompactionOutput {
  readonly outputRecords?: number;
  /** Their level says nothing: it is 2^32 - 1. */
  readonly files?: readonly NewFile[];
  readonly unknown?: readonly UnknownField[];
}

type Mutable<T> = { -readonly [Member in keyof T]: T[Member] };

const CODE = 'manifest_edit';
/** Ends both lists of fields. */
const END = 1;
const FIELD = { nextKey: 2, inputRecords: 3, outputLevel: 4, proximalOutputLevel: 5 } as const;
const OUTPUT_FIELD = { files: 2, outputRecords: 3 } as const;
/** A field that is not known and has this bit is passed over. */
const IGNORABLE_FIELD_BIT = 65536;

/**
 * Layout: repeated (varint32 tag, length, bytes) until tag 1; outputs are such lists themselves.
 * Throws CorruptionError `manifest_edit`, UnsupportedError for a field that must not be passed over.
 */
export function decodeSubcompactionProgress(bytes: Uint8Array): SubcompactionProgress {
  const progress: Mutable<SubcompactionProgress> = {};
  decodeFields(bytes, (tag, field) => {
    if (tag === FIELD.nextKey) progress.nextKey = field.rest().slice();
    else if (tag === FIELD.inputRecords) progress.inputRecords = field.varint64();
    else if (tag === FIELD.outputLevel) progress.outputLevel = decodeOutput(field.rest());
    else if (tag === FIELD.proximalOutputLevel) progress.proximalOutputLevel = decodeOutput(field.rest());
    else progress.unknown = keep(progress.unknown, tag, field);
  });
  return progress;
}

export function encodeSubcompactionProgress(progress: SubcompactionProgress): Uint8Array {
  const out = new ByteWriter();
  const { nextKey, inputRecords, outputLevel, proximalOutputLevel } = progress;
  put(out, FIELD.nextKey, nextKey);
  put(out, FIELD.inputRecords, inputRecords === undefined ? undefined : encodeVarint(inputRecords));
  put(out, FIELD.outputLevel, outputLevel === undefined ? undefined : encodeOutput(outputLevel));
  put(
    out,
    FIELD.proximalOutputLevel,
    proximalOutputLevel === undefined ? undefined : encodeOutput(proximalOutputLevel),
  );
  for (const { tag, bytes } of progress.unknown ?? []) put(out, tag, bytes);
  out.varint(END);
  return out.copy();
}

function decodeOutput(bytes: Uint8Array): SubcompactionOutput {
  const output: Mutable<SubcompactionOutput> = {};
  decodeFields(bytes, (tag, field) => {
    if (tag === OUTPUT_FIELD.outputRecords) output.outputRecords = field.varint64();
    else if (tag === OUTPUT_FIELD.files) output.files = decodeFiles(field);
    else output.unknown = keep(output.unknown, tag, field);
  });
  return output;
}

function encodeOutput({ outputRecords, files, unknown }: SubcompactionOutput): Uint8Array {
  const out = new ByteWriter();
  put(out, OUTPUT_FIELD.outputRecords, outputRecords === undefined ? undefined : encodeVarint(outputRecords));
  if (files !== undefined) {
    const list = new ByteWriter();
    list.varint(files.length);
    for (const file of files) {
      const one = new ByteWriter();
      encodeNewFile(one, file);
      list.lengthPrefixed(one.view());
    }
    put(out, OUTPUT_FIELD.files, list.view());
  }
  for (const { tag, bytes } of unknown ?? []) put(out, tag, bytes);
  out.varint(END);
  return out.copy();
}

/** varint32 count, then each with its length: tag 103 and its fields. */
function decodeFiles(field: ByteReader): NewFile[] {
  const count = field.varint32();
  // A file takes more than a byte: a larger count is refused before anything is made for it.
  if (count > field.remaining) field.fail(`${count} files in ${field.remaining} bytes`);
  const files: NewFile[] = [];
  for (let i = 0; i < count; i++) {
    const reader = new ByteReader(field.lengthPrefixed(), CODE);
    const tag = reader.varint32();
    if (tag !== EditTag.newFile4)
      reader.fail(`an output file with tag ${tag} in place of ${EditTag.newFile4}`);
    files.push(decodeNewFile(reader, EditTag.newFile4));
  }
  return files;
}

function decodeFields(bytes: Uint8Array, take: (tag: number, field: ByteReader) => void): void {
  const reader = new ByteReader(bytes, CODE);
  for (let tag = reader.varint32(); tag !== END; tag = reader.varint32()) {
    take(tag, new ByteReader(reader.lengthPrefixed(), CODE));
  }
}

function keep(known: readonly UnknownField[] | undefined, tag: number, field: ByteReader): UnknownField[] {
  if ((tag & IGNORABLE_FIELD_BIT) === 0) {
    throw new UnsupportedError(
      'subcompaction progress field',
      tag,
      `field ${tag} of a subcompaction is not known`,
    );
  }
  return [...(known ?? []), { tag, bytes: field.rest().slice() }];
}

function put(out: ByteWriter, tag: number, bytes: Uint8Array | undefined): void {
  if (bytes === undefined) return;
  out.varint(tag);
  out.lengthPrefixed(bytes);
}
