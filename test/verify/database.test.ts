/** A database directory against its MANIFEST: real ones, and such with a MANIFEST that was changed. */

import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../../src/bytes/source.ts';
import { createCrc32c } from '../../src/hash/crc32c.ts';
import { verifyManifest } from '../../src/tools/verify/manifest-check.ts';
import { verifyPaths } from '../../src/tools/verify.ts';
import { databases, sharedFixtures } from '../support/fixtures.ts';
import {
  copyDatabase,
  findingsIn,
  manifestOf,
  manifestPath,
  readEdits,
  verifyFolder,
  withFiles,
} from '../support/manifest.ts';
import { findTool, runTool } from '../support/oracles.ts';
import { flipBit } from '../support/patch.ts';
import { SeededRandom, TEST_SCALE } from '../support/random.ts';
import { testEnvironment } from '../support/scan.ts';
import { testFolders } from '../support/test-folders.ts';

const SEED = 20261203;
const ALL = [...databases(), ...sharedFixtures().databases];
const named = (name: string): string => databases().find((each) => each.name === name)!.path;

const folders = testFolders('sstkit-database-');

describe.each(ALL)('$name', ({ path: source }) => {
  it('is whole', async () => {
    const reports = await verifyFolder(source);
    const manifest = path.basename(manifestPath(source));
    expect(reports.get(manifest)).toMatchObject({ kind: 'manifest', status: 'ok', findings: [] });
    const wrong = [...reports.values()].flatMap(({ findings }) =>
      findings.filter(({ severity, code }) => severity !== 'note' || code === 'obsolete_file'),
    );
    expect(wrong).toEqual([]);
  });

  it('every bound and every size counts', async () => {
    const edits = readEdits(source);
    // Of files that were deleted or dropped with their column family nothing is left.
    const names = new Set(readdirSync(source).map((name) => Number.parseInt(name, 10)));
    const files = edits.flatMap(({ newFiles = [] }) => newFiles).filter(({ number }) => names.has(number));
    const expected = { smallest: 0, largest: 0, size: 0, seqno: 0 };
    const found = { ...expected };
    const tally = async (
      what: keyof typeof expected,
      code: string,
      change: Parameters<typeof withFiles>[1],
      isWrong: (file: (typeof files)[number]) => boolean,
    ): Promise<void> => {
      expected[what] = files.filter(isWrong).length;
      copyDatabase(source, folders.fresh(), (all) => withFiles(all, change));
      const report = [...(await verifyFolder(folders.current)).values()].find(
        ({ kind }) => kind === 'manifest',
      )!;
      const numbers = report.findings
        .filter((finding) => finding.code === code)
        .map(({ message }) => /^file (\d+) /.exec(message)?.[1]);
      found[what] = new Set(numbers).size;
      rmSync(folders.current, { recursive: true });
    };
    const differ = (file: (typeof files)[number]): boolean =>
      Buffer.compare(file.smallest.subarray(0, -8), file.largest.subarray(0, -8)) !== 0;
    await tally('smallest', 'manifest_bounds', (file) => ({ ...file, smallest: file.largest }), differ);
    await tally('largest', 'manifest_bounds', (file) => ({ ...file, largest: file.smallest }), differ);
    await tally(
      'size',
      'manifest_size',
      (file) => ({ ...file, size: file.size + 1 }),
      () => true,
    );
    await tally(
      'seqno',
      'seqno_bounds',
      ({ smallestSeqno, ...file }) =>
        smallestSeqno === undefined ? file : { ...file, smallestSeqno: file.largestSeqno! },
      ({ smallestSeqno, largestSeqno }) => smallestSeqno !== largestSeqno,
    );
    expect(found).toEqual(expected);
  });
});

describe('files', () => {
  const mixed = named('mixed');

  it('that are missing, with their level and column family', async () => {
    copyDatabase(mixed, folders.fresh());
    const [first] = readdirSync(folders.current).filter((name) => name.endsWith('.sst'));
    rmSync(path.join(folders.current, first!));
    const manifest = (await verifyFolder(folders.current)).get('MANIFEST-000005')!;
    expect(manifest.status).toBe('damaged');
    expect(manifest.findings).toMatchObject([{ code: 'manifest_missing', severity: 'damage' }]);
    expect(manifest.findings[0]!.message).toMatch(/^file 12 \(level \d.*\): .* there is no 000012\.sst$/);
  });

  it('under the other name of tables', async () => {
    copyDatabase(mixed, folders.fresh());
    renameSync(path.join(folders.current, '000012.sst'), path.join(folders.current, '000012.ldb'));
    expect(await findingsIn(folders.current)).toEqual([]);
  });

  it('that the MANIFEST does not list', async () => {
    copyDatabase(mixed, folders.fresh());
    writeFileSync(
      path.join(folders.current, '000050.sst'),
      readFileSync(path.join(folders.current, '000012.sst')),
    );
    const reports = await verifyFolder(folders.current);
    expect(reports.get('000050.sst')).toMatchObject({
      status: 'ok',
      findings: [{ code: 'obsolete_file', severity: 'note' }],
    });
    expect(reports.get('MANIFEST-000005')!.status).toBe('ok');
  });

  it('of another size: both numbers, and the table is whole (LD-05)', async () => {
    for (const name of ['mixed', 'leveldb']) {
      copyDatabase(named(name), folders.fresh(), (edits) =>
        withFiles(edits, (file) => ({ ...file, size: 212 })),
      );
      const reports = [...(await verifyFolder(folders.current)).values()];
      const manifest = reports.find(({ kind }) => kind === 'manifest')!;
      expect(
        manifest.findings.every(({ code, stored }) => code === 'manifest_size' && stored === '212'),
      ).toBe(true);
      expect(manifest.findings[0]!.message).toMatch(/the MANIFEST says 212 bytes, the file has \d+$/);
      expect(reports.filter(({ kind, status }) => kind === 'sst' && status !== 'ok')).toEqual([]);
    }
  });

  it('of blobs', async () => {
    copyDatabase(named('blob'), folders.fresh());
    const blob = path.join(folders.current, '000010.blob');
    const bytes = readFileSync(blob);
    writeFileSync(blob, bytes.subarray(0, bytes.length - 1));
    expect(await findingsIn(folders.current)).toEqual([
      '000010.blob: damage blob_footer',
      'MANIFEST-000005: damage manifest_size',
    ]);
    rmSync(blob);
    expect(await findingsIn(folders.current)).toEqual([
      '000009.sst: damage blob_dangling',
      'MANIFEST-000005: damage manifest_missing',
    ]);
  });

  it('with a checksum of their own', async () => {
    const wholeFile = (source: string, number: number): Uint8Array => {
      const bytes = readFileSync(path.join(source, `${String(number).padStart(6, '0')}.sst`));
      const out = Buffer.alloc(4);
      out.writeUInt32BE(createCrc32c()(bytes, 0, bytes.length));
      return new Uint8Array(out);
    };
    const withChecksums = (fileChecksumFunction: string) =>
      copyDatabase(mixed, folders.fresh(), (edits) =>
        withFiles(edits, (file) =>
          existsSync(path.join(mixed, `${String(file.number).padStart(6, '0')}.sst`))
            ? { ...file, fileChecksum: wholeFile(mixed, file.number), fileChecksumFunction }
            : file,
        ),
      );
    withChecksums('FileChecksumCrc32c');
    expect(await findingsIn(folders.current)).toEqual([]);
    copyDatabase(mixed, folders.fresh(), (edits) =>
      withFiles(edits, (file) => ({
        ...file,
        fileChecksum: Uint8Array.of(1, 2, 3, 4),
        fileChecksumFunction: 'FileChecksumCrc32c',
      })),
    );
    expect(new Set(await findingsIn(folders.current))).toEqual(
      new Set(['MANIFEST-000005: damage manifest_checksum']),
    );
    withChecksums('Somebody');
    expect(await findingsIn(folders.current)).toEqual(['MANIFEST-000005: note checksum_not_compared']);
  });

  it('that a running database removes meanwhile are gone', async () => {
    copyDatabase(mixed, folders.fresh());
    rmSync(path.join(folders.current, '000012.sst'));
    const environment = await testEnvironment();
    const edits = readEdits(folders.current);
    const level = edits.flatMap(({ newFiles = [] }) => newFiles).find(({ number }) => number === 12)!;
    const { columnFamily } = edits.find(({ newFiles }) => newFiles?.includes(level))!;
    let opened = 0;
    const findings: string[] = [];
    await verifyPaths(
      {
        ...environment,
        files: {
          ...environment.files,
          open: (file) => {
            // The first opening reads it, the second is that of the walk, the third looks once more.
            if (file.endsWith('MANIFEST-000005') && ++opened === 2) {
              const deletedFiles = [{ level: level.level, number: 12 }];
              writeFileSync(file, manifestOf([...edits, { columnFamily, deletedFiles }]));
            }
            return environment.files.open(file);
          },
        },
      },
      { paths: [folders.current], recursive: false },
      {
        report: (report) => findings.push(...report.findings.map(({ code }) => code)),
        skipped: () => undefined,
        progress: () => undefined,
      },
    );
    expect(findings).toEqual(['gone']);
  });
});

describe('the MANIFEST', () => {
  const mixed = named('mixed');

  it('to which a running database is just writing is read once more', async () => {
    copyDatabase(mixed, folders.fresh());
    const file = manifestPath(folders.current);
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, bytes.length - 5));
    const environment = await testEnvironment();
    let opened = 0;
    const statuses: string[] = [];
    await verifyPaths(
      {
        ...environment,
        files: {
          ...environment.files,
          open: (name) => {
            const source = environment.files.open(name);
            // The rest of the record comes when the file is open already.
            if (name === file && ++opened === 1) writeFileSync(file, bytes);
            return source;
          },
        },
      },
      { paths: [folders.current], recursive: false },
      {
        report: (report) => statuses.push(report.status),
        skipped: () => undefined,
        progress: () => undefined,
      },
    );
    expect(new Set(statuses)).toEqual(new Set(['ok']));
  });

  it('a flipped bit: files are not looked for, those that are there are compared', async () => {
    copyDatabase(mixed, folders.fresh());
    const file = manifestPath(folders.current);
    writeFileSync(file, flipBit(new Uint8Array(readFileSync(file)), 40));
    expect(await findingsIn(folders.current)).toContain('MANIFEST-000005: damage log_record_damaged');
    expect(await findingsIn(folders.current)).toContain('MANIFEST-000005: note files_not_compared');
    expect((await findingsIn(folders.current)).filter((each) => each.includes('obsolete'))).toEqual([]);
  });

  it('cut anywhere is not ok, but between records', async () => {
    copyDatabase(mixed, folders.fresh());
    const file = manifestPath(folders.current);
    const bytes = readFileSync(file);
    for (const length of [0, 1, 3, 100, bytes.length - 1]) {
      writeFileSync(file, bytes.subarray(0, length));
      const manifest = (await verifyFolder(folders.current)).get('MANIFEST-000005')!;
      expect(manifest.status, `${length} bytes`).toBe(length < 10 ? 'unreadable' : 'damaged');
    }
  });

  it('a file that is deleted twice is a warning', async () => {
    copyDatabase(mixed, folders.fresh(), (edits) => {
      const { number, level } = edits.flatMap(({ newFiles = [] }) => newFiles)[0]!;
      const deletedFiles = [{ level, number: number + 60 }];
      const added = { ...edits.flatMap(({ newFiles = [] }) => newFiles)[0]!, number: number + 60 };
      return [...edits, { newFiles: [added] }, { deletedFiles }, { deletedFiles }];
    });
    expect(await findingsIn(folders.current)).toEqual(['MANIFEST-000005: warning manifest_repeated_delete']);
  });

  it('a tag that is not known is unsupported', async () => {
    copyDatabase(mixed, folders.fresh(), (edits) => [
      ...edits,
      { unknown: [{ tag: 99, bytes: new Uint8Array(2) }] },
    ]);
    const manifest = (await verifyFolder(folders.current)).get('MANIFEST-000005')!;
    expect(manifest).toMatchObject({
      status: 'unsupported',
      findings: [{ code: 'unsupported' }, { code: 'files_not_compared' }],
    });
  });

  it('by itself', async () => {
    const reports = await verifyFolder(manifestPath(mixed));
    expect([...reports.values()]).toMatchObject([{ kind: 'manifest', status: 'ok', findings: [] }]);
  });

  it('of another comparator than the tables', async () => {
    copyDatabase(named('blob'), folders.fresh(), (edits) =>
      edits.map((edit) =>
        edit.comparator === undefined ? edit : { ...edit, comparator: 'rocksdb.ReverseBytewiseComparator' },
      ),
    );
    expect(await findingsIn(folders.current)).toContain('MANIFEST-000005: damage manifest_comparator');
  });

  it('two files of a level that overlap', async () => {
    const levels = ALL.find(({ name }) => name === 'ttl_levels');
    if (levels === undefined) return;
    copyDatabase(levels.path, folders.fresh(), (edits) => {
      const largest = edits.at(-1)!.newFiles!.at(-1)!.largest;
      return withFiles(edits, (file) => (file.number === 18 ? { ...file, largest } : file));
    });
    const manifest = (await verifyFolder(folders.current)).get('MANIFEST-000005')!;
    expect(manifest.findings.map(({ code }) => code)).toEqual([
      'manifest_overlap',
      'manifest_overlap',
      'manifest_overlap',
    ]);
    expect(
      (await findingsIn(folders.current, { order: false })).filter((each) => each.includes('MANIFEST')),
    ).toEqual([]);
  });
});

it(`a flipped bit of any MANIFEST is reported (seed ${SEED})`, async () => {
  const random = new SeededRandom(SEED);
  const environment = await testEnvironment();
  for (const { path: source, name } of ALL) {
    const bytes = new Uint8Array(readFileSync(manifestPath(source)));
    for (let run = 0; run < 20 * TEST_SCALE; run++) {
      const at = random.below(bytes.length);
      const bit = random.below(8);
      const file = { path: 'MANIFEST-000005', source: memorySource(flipBit(bytes, at, bit)) };
      const { status } = verifyManifest(environment, file, {});
      expect(['damaged', 'unreadable'], `${name}, byte ${at}, bit ${bit}`).toContain(status);
    }
  }
});

describe.skipIf(findTool('ldb') === undefined)('ldb 7.8.3 checkconsistency', () => {
  it('agrees on sizes and missing files', async () => {
    const source = named('blob');
    const check = (): boolean => {
      const { stdout } = runTool('ldb', [`--db=${folders.current}`, 'checkconsistency']);
      return stdout.startsWith('OK');
    };
    copyDatabase(source, folders.fresh());
    expect(check()).toBe(true);
    copyDatabase(source, folders.fresh(), (edits) =>
      withFiles(edits, (file) => ({ ...file, size: file.size + 1 })),
    );
    expect(check()).toBe(false);
    copyDatabase(source, folders.fresh());
    rmSync(path.join(folders.current, '000009.sst'));
    expect(check()).toBe(false);
  });
});
