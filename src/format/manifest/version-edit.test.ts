import { describe, expect, it } from 'vitest';
import { SeededRandom, TEST_SCALE } from '../../../test/support/random.ts';
import { ByteWriter } from '../../bytes/byte-writer.ts';
import { fromHex, toHex, utf8Bytes } from '../../bytes/text.ts';
import { CorruptionError, UnsupportedError } from '../../errors.ts';
import { decodeVersionEdit } from './decode-version-edit.ts';
import { encodeVersionEdit } from './encode-version-edit.ts';
import {
  decodeSubcompactionProgress,
  encodeSubcompactionProgress,
  type SubcompactionProgress,
} from './subcompaction-progress.ts';
import { EditTag, type NewFile, type UnknownField, type VersionEdit } from './version-edit.ts';

const SEED = 20261202;
const MAX_U64 = 2n ** 64n - 1n;

function randomKey(random: SeededRandom): Uint8Array {
  return random.bytes(8 + random.below(20));
}

function randomNumber(random: SeededRandom): number {
  return random.pick([0, 1, 127, 128, random.uint32(), Number.MAX_SAFE_INTEGER]);
}

/** Each member with a probability of a half. */
function some<T extends object>(random: SeededRandom, members: T): Partial<T> {
  return Object.fromEntries(Object.entries(members).filter(() => random.chance(0.5))) as Partial<T>;
}

function unknown(random: SeededRandom, tag: number): UnknownField[] {
  return [{ tag, bytes: random.bytes(random.below(9)) }];
}

function randomFile(random: SeededRandom): NewFile {
  const number = (): number => randomNumber(random);
  const tag = random.pick([EditTag.newFile, EditTag.newFile2, EditTag.newFile3, EditTag.newFile4]);
  const file = {
    tag,
    level: random.below(7),
    number: number(),
    size: number(),
    smallest: randomKey(random),
    largest: randomKey(random),
  };
  if (tag === EditTag.newFile) return file;
  const withSeqnos = { ...file, smallestSeqno: BigInt(number()), largestSeqno: 2n ** 56n - 1n };
  if (tag === EditTag.newFile2) return withSeqnos;
  if (tag === EditTag.newFile3) return { ...withSeqnos, pathId: random.below(4) };
  return {
    ...withSeqnos,
    ...some(random, {
      pathId: random.below(4),
      needsCompaction: random.chance(0.5),
      minLogNumberToKeep: number(),
      oldestBlobFile: number(),
      oldestAncestorTime: number(),
      fileCreationTime: number(),
      fileChecksum: random.bytes(4),
      fileChecksumFunction: 'FileChecksumCrc32c',
      temperature: random.pick([4, 8, 10, 12, 16]),
      minTimestamp: random.bytes(8),
      maxTimestamp: random.bytes(8),
      uniqueId: random.bytes(16),
      epochNumber: number(),
      compensatedRangeDeletionSize: number(),
      tailSize: number(),
      userDefinedTimestampsPersisted: random.chance(0.5),
      openMetadata: random.bytes(5),
      unknown: unknown(random, 18),
    }),
  };
}

function randomEdit(random: SeededRandom): VersionEdit {
  const number = (): number => randomNumber(random);
  const list = <T>(make: () => T): T[] => Array.from({ length: 1 + random.below(3) }, make);
  return {
    columnFamily: random.pick([0, 0, 1, 2 ** 32 - 1]),
    ...some(random, {
      dbId: 'an id',
      comparator: 'leveldb.BytewiseComparator',
      logNumber: number(),
      previousLogNumber: number(),
      nextFileNumber: number(),
      maxColumnFamily: random.uint32(),
      minLogNumberToKeep: number(),
      lastSequence: random.pick([0n, 5n, 2n ** 56n - 1n, MAX_U64]),
      compactCursors: list(() => ({ level: random.below(7), key: randomKey(random) })),
      deletedFiles: list(() => ({ level: random.below(7), number: number() })),
      newFiles: list(() => randomFile(random)),
      blobFileAdditions: list(() => ({
        number: number(),
        blobCount: number(),
        blobBytes: number(),
        checksumMethod: 'none',
        checksumValue: random.bytes(3),
        ...some(random, { unknown: unknown(random, 5) }),
      })),
      blobFileGarbage: list(() => ({
        number: number(),
        garbageCount: number(),
        garbageBytes: number(),
        ...some(random, { unknown: unknown(random, 5) }),
      })),
      walAdditions: list(() => ({ number: number(), ...some(random, { syncedSize: number() }) })),
      walDeletion: number(),
      columnFamilyAdd: 'a family',
      columnFamilyDrop: true,
      atomicGroupRemaining: random.below(9),
      fullHistoryTsLow: random.bytes(8),
      persistUserDefinedTimestamps: random.chance(0.5),
      subcompactionProgress: random.bytes(6),
      lastCompactedManifestSize: number(),
      unknown: unknown(random, 8192 + 99),
    }),
  };
}

it(`what is encoded is decoded again (seed ${SEED})`, () => {
  const random = new SeededRandom(SEED);
  for (let run = 0; run < 300 * TEST_SCALE; run++) {
    const edit = randomEdit(random);
    const bytes = encodeVersionEdit(edit);
    const decoded = decodeVersionEdit(bytes);
    expect(decoded, `run ${run}`).toEqual(edit);
    expect(toHex(encodeVersionEdit(decoded))).toBe(toHex(bytes));
  }
});

it(`cut or changed bytes end in an edit or an error of ours (seed ${SEED})`, () => {
  const random = new SeededRandom(SEED);
  for (let run = 0; run < 2000 * TEST_SCALE; run++) {
    const bytes = encodeVersionEdit(randomEdit(random));
    if (bytes.length === 0) continue;
    const changed = random.chance(0.5) ? bytes.subarray(0, random.below(bytes.length)) : bytes.slice();
    if (changed.length === bytes.length) changed[random.below(bytes.length)] = random.below(256);
    try {
      decodeVersionEdit(changed);
    } catch (error) {
      if (!(error instanceof CorruptionError || error instanceof UnsupportedError)) throw error;
    }
  }
});

it('an empty record is an edit that says nothing', () => {
  expect(decodeVersionEdit(new Uint8Array(0))).toEqual({ columnFamily: 0 });
  expect(encodeVersionEdit({ columnFamily: 0 })).toHaveLength(0);
});

/** Independent of the encoder. */
function edit(write: (out: ByteWriter) => void): VersionEdit {
  const out = new ByteWriter();
  write(out);
  return decodeVersionEdit(out.copy());
}

describe('tags', () => {
  it('MF-05: an optional one that is not known is kept, and the next is read', () => {
    const bytes = utf8Bytes('6bytes');
    const decoded = edit((out) => {
      out.varint(8192 + 99);
      out.lengthPrefixed(bytes);
      out.varint(EditTag.nextFileNumber);
      out.varint(12);
    });
    expect(decoded).toEqual({ columnFamily: 0, nextFileNumber: 12, unknown: [{ tag: 8291, bytes }] });
  });

  it('another one that is not known is an error that names it', () => {
    expect(() => edit((out) => out.varint(99))).toThrow(/tag 99 is not known/);
    expect(() => edit((out) => out.varint(8))).toThrow(UnsupportedError);
  });

  it('MF-01: bounds of any type', () => {
    for (const type of [0x1a, 0x18, 0xff]) {
      const key = Uint8Array.of(0x6b, type, 1, 0, 0, 0, 0, 0, 0);
      const decoded = edit((out) => {
        for (const value of [EditTag.newFile, 1, 12, 4096]) out.varint(value);
        out.lengthPrefixed(key);
        out.lengthPrefixed(key);
      });
      expect(decoded.newFiles).toMatchObject([
        { level: 1, number: 12, size: 4096, smallest: key, largest: key },
      ]);
    }
  });

  it('the old ones of blob files and WALs, which have no length', () => {
    const decoded = edit((out) => {
      for (const value of [EditTag.oldBlobFileAddition, 5, 6, 700]) out.varint(value);
      out.lengthPrefixed(utf8Bytes('m'));
      out.lengthPrefixed(utf8Bytes('v'));
      out.varint(0);
      for (const value of [EditTag.oldBlobFileGarbage, 5, 1, 100, 0]) out.varint(value);
      for (const value of [EditTag.oldWalAddition, 9, 2, 4000, 1]) out.varint(value);
      for (const value of [EditTag.oldWalDeletion, 8]) out.varint(value);
    });
    expect(decoded).toMatchObject({
      blobFileAdditions: [{ number: 5, blobCount: 6, blobBytes: 700, checksumMethod: 'm' }],
      blobFileGarbage: [{ number: 5, garbageCount: 1, garbageBytes: 100 }],
      walAdditions: [{ number: 9, syncedSize: 4000 }],
      walDeletion: 8,
    });
  });

  it.each([
    ['a key without room for its trailer', [5, 1, 7, 1, 2, 3, 4, 5, 6, 7]],
    ['an empty full_history_ts_low', [0x86, 0x40, 0]],
    ['a flag that is neither 0 nor 1', [0x89, 0x40, 1, 2]],
    ['bytes behind a value', [0x8b, 0x40, 2, 5, 0]],
    ['a length beyond the record', [1, 50, 0x61]],
    ['a tag that is cut off', [0x80]],
  ])('%s', (_, bytes) => {
    expect(() => decodeVersionEdit(Uint8Array.from(bytes))).toThrow(
      expect.objectContaining({ code: 'manifest_edit' }),
    );
  });

  it('fields of a new file that are not known', () => {
    const file = (tag: number): VersionEdit =>
      edit((out) => {
        for (const value of [EditTag.newFile4, 0, 9, 100]) out.varint(value);
        out.lengthPrefixed(new Uint8Array(9));
        out.lengthPrefixed(new Uint8Array(9));
        for (const value of [1, 2, tag]) out.varint(value);
        out.lengthPrefixed(utf8Bytes('?'));
        out.varint(1);
      });
    expect(file(40).newFiles).toMatchObject([{ unknown: [{ tag: 40, bytes: utf8Bytes('?') }] }]);
    expect(() => file(66)).toThrow(/field 66 of a new file is not known/);
  });
});

it(`subcompaction progress, both ways and cut (seed ${SEED})`, () => {
  const random = new SeededRandom(SEED);
  const files = (): NewFile[] =>
    Array.from({ length: 1 + random.below(3) }, () => ({
      tag: EditTag.newFile4,
      level: 0xffffffff,
      number: random.uint32(),
      size: random.uint32(),
      smallest: randomKey(random),
      largest: randomKey(random),
      smallestSeqno: 1n,
      largestSeqno: 2n,
      epochNumber: 3,
    }));
  for (let run = 0; run < 50 * TEST_SCALE; run++) {
    const output = () =>
      some(random, { outputRecords: random.uint32(), files: files(), unknown: unknown(random, 65536 + 9) });
    const progress: SubcompactionProgress = some(random, {
      nextKey: randomKey(random),
      inputRecords: random.uint32(),
      outputLevel: output(),
      proximalOutputLevel: output(),
      unknown: unknown(random, 65536 + 7),
    });
    const bytes = encodeSubcompactionProgress(progress);
    expect(decodeSubcompactionProgress(bytes)).toEqual(progress);
    const cut = bytes.subarray(0, random.below(bytes.length));
    expect(() => decodeSubcompactionProgress(cut)).toThrow(CorruptionError);
  }
  expect(() => decodeSubcompactionProgress(Uint8Array.of(9, 0, 1))).toThrow(/field 9 of a subcompaction/);
  expect(() => decodeSubcompactionProgress(Uint8Array.of(4, 4, 2, 1, 100, 1, 1))).toThrow(
    /100 files in 0 bytes/,
  );
});

it('an edit as RocksDB 11.9 wrote it', () => {
  // The first edits of a database: DB id; comparator and whether timestamps persist.
  const hex = '011a6c6576656c64622e4279746577697365436f6d70617261746f728940' + '0101';
  expect(decodeVersionEdit(fromHex(hex)!)).toEqual({
    columnFamily: 0,
    comparator: 'leveldb.BytewiseComparator',
    persistUserDefinedTimestamps: true,
  });
});
