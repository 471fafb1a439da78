import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../bytes/byte-writer.ts';
import { memorySource } from '../../bytes/source.ts';
import { utf8Bytes } from '../../bytes/text.ts';
import { twinHashFunctions } from '../../hash/hash-functions.ts';
import type { LogFault } from '../log/log-reader.ts';
import { LogWriter } from '../log/log-writer.ts';
import { decodeCurrent, encodeCurrent } from './current-file.ts';
import { encodeVersionEdit } from './encode-version-edit.ts';
import { type ReadManifest, readManifest } from './manifest-reader.ts';
import { levelsOf } from './manifest-state.ts';
import { EditTag, type NewFile, type VersionEdit } from './version-edit.ts';

const hashes = twinHashFunctions();

type Edit = Partial<VersionEdit>;

function manifestOf(...edits: readonly Edit[]): Uint8Array {
  const out = new ByteWriter();
  const log = new LogWriter(out, hashes);
  for (const edit of edits) log.add(encodeVersionEdit({ columnFamily: 0, ...edit }));
  return out.copy();
}

function read(bytes: Uint8Array): ReadManifest & { faults: LogFault[] } {
  const faults: LogFault[] = [];
  const result = readManifest(memorySource(bytes, 'MANIFEST-000005'), hashes, {
    fault: (each) => faults.push(each),
  });
  return { ...result, faults };
}

const readEdits = (...edits: readonly Edit[]): ReturnType<typeof read> => read(manifestOf(...edits));

function file(number: number, level: number, more: Partial<NewFile> = {}): NewFile {
  const bound = Uint8Array.of(0x61, 1, 0, 0, 0, 0, 0, 0, 0);
  return {
    tag: EditTag.newFile4,
    level,
    number,
    size: 1000,
    smallest: bound,
    largest: bound,
    smallestSeqno: 0n,
    largestSeqno: 0n,
    ...more,
  };
}

const COUNTERS: Edit = { logNumber: 4, nextFileNumber: 20, lastSequence: 99n };
const codesOf = ({ faults }: { faults: LogFault[] }): string[] => faults.map(({ code }) => code);
const numbersOf = ({ state }: ReadManifest, id = 0): number[] => [
  ...state.columnFamilies.get(id)!.files.keys(),
];

describe('the live set', () => {
  it('adds, deletes, moves', () => {
    const manifest = readEdits(
      { comparator: 'leveldb.BytewiseComparator', ...COUNTERS },
      { newFiles: [file(7, 0), file(8, 0)] },
      { deletedFiles: [{ level: 0, number: 7 }], newFiles: [file(9, 1)] },
      { deletedFiles: [{ level: 0, number: 8 }], newFiles: [file(8, 2)] },
    );
    expect(manifest.faults).toEqual([]);
    const family = manifest.state.columnFamilies.get(0)!;
    expect(levelsOf(family).map(({ level, files }) => [level, files.map(({ number }) => number)])).toEqual([
      [1, [9]],
      [2, [8]],
    ]);
    expect(manifest.state).toMatchObject({ nextFileNumber: 20, lastSequence: 99n });
    expect(family).toMatchObject({ name: 'default', comparator: 'leveldb.BytewiseComparator', logNumber: 4 });
  });

  it('level 0 has the newest first', () => {
    const order = (...files: NewFile[]): number[] =>
      levelsOf({ files: new Map(files.map((each) => [each.number, each])) })[0]!.files.map(
        ({ number }) => number,
      );
    expect(
      order(file(1, 0, { epochNumber: 3 }), file(2, 0, { epochNumber: 9 }), file(3, 0, { epochNumber: 5 })),
    ).toEqual([2, 3, 1]);
    expect(
      order(
        file(1, 0, { largestSeqno: 3n }),
        file(2, 0, { largestSeqno: 1n }),
        file(3, 0, { largestSeqno: 3n }),
      ),
    ).toEqual([3, 1, 2]);
  });

  it('column families', () => {
    const manifest = readEdits(
      COUNTERS,
      { columnFamily: 1, columnFamilyAdd: 'one', comparator: 'c1', maxColumnFamily: 1 },
      { columnFamily: 2, columnFamilyAdd: 'two', comparator: 'c2' },
      { columnFamily: 1, newFiles: [file(7, 0)], logNumber: 9 },
      { columnFamily: 2, newFiles: [file(8, 6)] },
      { columnFamily: 1, columnFamilyDrop: true },
    );
    expect(manifest.faults).toEqual([]);
    expect([...manifest.state.columnFamilies.values()].map(({ id, name }) => [id, name])).toEqual([
      [0, 'default'],
      [2, 'two'],
    ]);
    expect(numbersOf(manifest, 2)).toEqual([8]);
  });

  it('counters: the last one counts, of the log to keep the largest', () => {
    const { state, faults } = readEdits(
      { ...COUNTERS, minLogNumberToKeep: 8 },
      { minLogNumberToKeep: 6, lastSequence: 100n, nextFileNumber: 22 },
      { newFiles: [file(7, 0, { minLogNumberToKeep: 10 })] },
    );
    expect(faults).toEqual([]);
    expect(state).toMatchObject({ minLogNumberToKeep: 10, lastSequence: 100n, nextFileNumber: 22 });
  });

  it('blob files and WALs', () => {
    const blob = {
      number: 5,
      blobCount: 3,
      blobBytes: 300,
      checksumMethod: '',
      checksumValue: new Uint8Array(0),
    };
    const { state, faults } = readEdits(
      { ...COUNTERS, blobFileAdditions: [blob], walAdditions: [{ number: 4 }, { number: 6 }] },
      {
        blobFileGarbage: [{ number: 5, garbageCount: 1, garbageBytes: 100 }],
        walAdditions: [{ number: 4, syncedSize: 10 }],
      },
      { blobFileGarbage: [{ number: 5, garbageCount: 1, garbageBytes: 90 }], walDeletion: 5 },
    );
    expect(faults).toEqual([]);
    expect(state.columnFamilies.get(0)!.blobFiles.get(5)).toMatchObject({
      garbageCount: 2,
      garbageBytes: 190,
    });
    expect([...state.wals]).toEqual([[6, undefined]]);
  });
});

describe('atomic groups', () => {
  const group = (number: number, atomicGroupRemaining: number): Edit => ({
    newFiles: [file(number, 0)],
    atomicGroupRemaining,
  });

  it('count when the last edit is there', () => {
    expect(numbersOf(readEdits(COUNTERS, group(7, 2), group(8, 1), group(9, 0), group(10, 0)))).toEqual([
      7, 8, 9, 10,
    ]);
  });

  it('that are not whole are left out', () => {
    const manifest = readEdits(COUNTERS, group(7, 2), group(8, 1));
    expect(numbersOf(manifest)).toEqual([]);
    expect(codesOf(manifest)).toEqual(['manifest_incomplete']);
    expect(manifest.faults[0]!.message).toContain('a group of 3 edits has 2'.slice(2));
  });

  it('that are broken', () => {
    const plain = readEdits(COUNTERS, group(7, 2), { newFiles: [file(8, 0)] });
    expect(numbersOf(plain)).toEqual([8]);
    expect(codesOf(plain)).toEqual(['manifest_edit']);
    const skipped = readEdits(COUNTERS, group(7, 3), group(8, 1), group(9, 0));
    expect(numbersOf(skipped)).toEqual([8, 9]);
    expect(codesOf(skipped)).toEqual(['manifest_edit']);
  });
});

describe('what contradicts itself', () => {
  const added: Edit = { ...COUNTERS, comparator: 'c', newFiles: [file(7, 0)] };
  const removal: Edit = { deletedFiles: [{ level: 0, number: 7 }] };
  it.each<[string, string, Edit[]]>([
    ['manifest_repeated_delete', 'file 7 of level 0 is deleted a second time', [added, removal, removal]],
    ['manifest_edit', 'was not added', [added, { deletedFiles: [{ level: 0, number: 8 }] }]],
    ['manifest_edit', 'is in level 0', [added, { deletedFiles: [{ level: 1, number: 7 }] }]],
    ['manifest_edit', 'is added to level 1', [added, { newFiles: [file(7, 1)] }]],
    [
      'manifest_edit',
      'column family 3 was never added',
      [added, { columnFamily: 3, newFiles: [file(9, 1)] }],
    ],
    ['manifest_edit', 'is added a second time', [added, { columnFamilyAdd: 'again' }]],
    ['manifest_edit', 'comparator d', [added, { comparator: 'd' }]],
    [
      'manifest_edit',
      'which was not added',
      [added, { blobFileGarbage: [{ number: 3, garbageCount: 1, garbageBytes: 1 }] }],
    ],
    ['manifest_incomplete', 'next file number, a log number, a last sequence number', [{ comparator: 'c' }]],
  ])('%s: %s', (code, text, edits) => {
    const manifest = readEdits(...edits);
    expect(codesOf(manifest)).toEqual([code]);
    expect(manifest.faults[0]!.message).toContain(text);
    expect(manifest.lostCount).toBe(0);
  });
});

describe('damage', () => {
  const bytes = manifestOf(COUNTERS, { newFiles: [file(7, 0)] }, { newFiles: [file(8, 0)] });

  it('a record that does not decode is left out, the others count', () => {
    const out = new ByteWriter();
    const log = new LogWriter(out, hashes);
    log.add(encodeVersionEdit({ columnFamily: 0, ...COUNTERS }));
    log.add(utf8Bytes('\x63 no edit'));
    log.add(utf8Bytes('\x01\x50 cut'));
    log.add(encodeVersionEdit({ columnFamily: 0, newFiles: [file(8, 0)] }));
    const manifest = read(out.copy());
    expect(codesOf(manifest)).toEqual(['unsupported', 'manifest_edit']);
    expect(manifest.faults.every(({ file: name, offset }) => name === 'MANIFEST-000005' && offset! > 0)).toBe(
      true,
    );
    expect(manifest.lostCount).toBe(2);
    expect(numbersOf(manifest)).toEqual([8]);
  });

  it('a flipped bit', () => {
    const flipped = bytes.slice();
    flipped[30]! ^= 1;
    expect(read(flipped)).toMatchObject({ lostCount: 1, end: { state: 'damage' } });
  });

  it('an unfinished record at the end', () => {
    const manifest = read(bytes.subarray(0, bytes.length - 3));
    expect(codesOf(manifest)).toEqual(['manifest_incomplete']);
    expect(numbersOf(manifest)).toEqual([7]);
  });

  it('cut anywhere, it never throws', () => {
    for (let length = 0; length < bytes.length; length++)
      expect(read(bytes.subarray(0, length)).faults.length).toBeLessThan(3);
  });
});

describe('CURRENT', () => {
  const decode = (text: string): ReturnType<typeof decodeCurrent> => decodeCurrent(utf8Bytes(text));

  it('a name and a line feed', () => {
    expect(decodeCurrent(encodeCurrent(5))).toEqual({ name: 'MANIFEST-000005', hasLineFeed: true });
    expect(decode('MANIFEST-1234567\n')).toEqual({ name: 'MANIFEST-1234567', hasLineFeed: true });
    expect(decode('MANIFEST-000005')).toEqual({ name: 'MANIFEST-000005', hasLineFeed: false });
  });

  it.each([
    ['empty', ''],
    ['16 bytes are zeros', '\0'.repeat(16)],
    ['does not hold', '000012.sst\n'],
    ['does not hold', '../MANIFEST-000005\n'],
    ['does not hold', '/MANIFEST-000005\n'],
    ['does not hold', 'MANIFEST-000005\r\n'],
    ['does not hold', 'MANIFEST-000005\nMANIFEST-000006\n'],
    ['does not hold', 'x'.repeat(1000)],
  ])('%s: %j', (reason, text) => {
    expect(() => decode(text)).toThrow(reason);
  });
});
