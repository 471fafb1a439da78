import { beforeAll, describe, expect, it } from 'vitest';
import { type NodeEnvironment, openNodeEnvironment } from '../../src/node/environment.ts';
import { cutEverywhere, EXHAUSTIVE, FLIP_FILES, flipBits, readFlipFile, SEED } from './flip-files.ts';
import { verifyBytes, withoutChecksums } from './table-surgery.ts';

/**
 * The same tables as flips.test.ts, without checksums: a flip may pass, but nothing may crash, hang, or be an error
 * that is not ours. format_version 0 is not among them: there the checksum type is fixed.
 */
let environment: NodeEnvironment;
beforeAll(async () => {
  environment = await openNodeEnvironment();
});

describe.each(FLIP_FILES.filter((file) => !file.startsWith('fv0')))(`%s (seed ${SEED})`, (file) => {
  const all = EXHAUSTIVE.includes(file);

  it('is whole, and says what it lacks', async () => {
    const report = await verifyBytes(environment, await withoutChecksums(environment, readFlipFile(file)));
    expect(report.findings.filter(({ severity }) => severity === 'damage')).toEqual([]);
    expect(report.findings.map(({ code }) => code)).toContain('checksums_absent');
  });

  it('no flipped bit does harm', async () => {
    const bytes = await withoutChecksums(environment, readFlipFile(file));
    const counts = { flips: 0, reported: 0 };
    await flipBits(environment, bytes, all, (report) => {
      counts.flips++;
      if (report.status !== 'ok') counts.reported++;
    });
    // Restarts, keys, handles, counts and properties make up more than a tenth of these tables.
    expect(counts.reported).toBeGreaterThan(counts.flips / 10);
  });

  it('is reported when it is cut', async () => {
    const bytes = await withoutChecksums(environment, readFlipFile(file));
    await cutEverywhere(environment, bytes, all, (report, length) => {
      expect(report.status, `${length} bytes`).not.toBe('ok');
    });
  });
});
