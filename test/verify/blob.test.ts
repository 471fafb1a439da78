/** Blob files, and the references of a database's tables to them. */

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memorySource } from '../../src/bytes/source.ts';
import { BLOB_HEADER_SIZE } from '../../src/format/blob/blob-file.ts';
import { verifyBlob } from '../../src/tools/verify/blob-check.ts';
import { databases, sharedFixtures } from '../support/fixtures.ts';
import { verifyFolder } from '../support/manifest.ts';
import { flipBit } from '../support/patch.ts';
import { SeededRandom, TEST_SCALE } from '../support/random.ts';
import { testEnvironment } from '../support/scan.ts';

const blobNames = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.blob'));
const ALL = [...databases(), ...sharedFixtures().databases].filter(
  ({ path: folder }) => blobNames(folder).length > 0,
);

let root: string;
beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'sstkit-blob-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const codesOf = (reports: Awaited<ReturnType<typeof verifyFolder>>) =>
  [...reports].flatMap(([name, { findings }]) => findings.map(({ code }) => `${name} ${code}`)).sort();

describe.each(ALL)('$name', ({ name, path: source }) => {
  const folder = () => path.join(root, name);

  it('is whole', async () => {
    const reports = await verifyFolder(source);
    for (const blob of blobNames(source)) {
      expect(reports.get(blob)).toMatchObject({ kind: 'blob', status: 'ok', findings: [] });
      expect(reports.get(blob)!.entries).toBeGreaterThan(0);
    }
  });

  it('flipped bits of blob files are damage', async () => {
    const environment = await testEnvironment();
    const random = new SeededRandom(11);
    for (const blob of blobNames(source)) {
      const bytes = new Uint8Array(readFileSync(path.join(source, blob)));
      for (let i = 0; i < 20 * TEST_SCALE; i++) {
        // The header has no checksum of its own.
        const offset = BLOB_HEADER_SIZE + random.below(bytes.length - BLOB_HEADER_SIZE);
        const flipped = flipBit(bytes, offset, random.below(8));
        const report = await verifyBlob(environment, { path: blob, source: memorySource(flipped, blob) }, {});
        expect([offset, report.status, report.findings.length]).toEqual([offset, 'damaged', 1]);
      }
    }
  });

  it('a blob file that is gone, and one with the contents of another', async () => {
    const [first] = blobNames(source);
    const other = ALL.find(({ path: folder }) => folder !== source)!.path;
    const copy = folder();
    cpSync(source, copy, { recursive: true });
    rmSync(path.join(copy, first!));
    const without = await verifyFolder(copy);
    const tables = [...without.values()].filter(({ kind }) => kind === 'sst');
    const dangling = tables.flatMap(({ findings }) =>
      findings.filter(({ code }) => code === 'blob_dangling'),
    );
    expect(dangling.length).toBeGreaterThan(0);
    for (const { message } of dangling) {
      expect(message).toMatch(
        new RegExp(`references? leads? to no value in blob file \\d+; .*there is no ${first}$`),
      );
    }
    expect(codesOf(without).filter((code) => code.endsWith('manifest_missing'))).toHaveLength(1);

    writeFileSync(path.join(copy, first!), readFileSync(path.join(other, blobNames(other)[0]!)));
    const exchanged = await verifyFolder(copy);
    expect(codesOf(exchanged).filter((code) => code.endsWith('blob_dangling')).length).toBe(dangling.length);
    expect(exchanged.get(first!)).toMatchObject({ status: 'ok' });
    rmSync(copy, { recursive: true });
  });

  it('one that the MANIFEST does not list', async () => {
    const copy = folder();
    cpSync(source, copy, { recursive: true });
    writeFileSync(path.join(copy, '999999.blob'), readFileSync(path.join(source, blobNames(source)[0]!)));
    expect(codesOf(await verifyFolder(copy))).toEqual(['999999.blob obsolete_file']);
    rmSync(copy, { recursive: true });
  });
});
