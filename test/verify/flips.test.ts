import { beforeAll, describe, expect, it } from 'vitest';
import { type NodeEnvironment, openNodeEnvironment } from '../../src/node/environment.ts';
import {
  cutEverywhere,
  EXHAUSTIVE,
  FLIP_FILES,
  flipBits,
  readFlipFile,
  SEED,
  unusedFooterBits,
} from './flip-files.ts';
import { openBytes, verifyBytes } from './table-surgery.ts';

/**
 * One table of at most 4 KB for each format version: every single bit of it is flipped, and it is cut at every
 * length. A flip is reported, or it changes nothing that a reader uses: in a footer before format_version 6
 * (`unusedFooterBits` names the bits), and in the zeros between aligned blocks. The one exception are the eight bytes
 * of a global sequence number, which ingestion writes over without a new checksum: there a note names the number.
 */
let environment: NodeEnvironment;
beforeAll(async () => {
  environment = await openNodeEnvironment();
});

it('has a table for each format version', () => {
  expect(EXHAUSTIVE.map((file) => Number(/^fv(\d)/.exec(file)![1]))).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  for (const file of FLIP_FILES) expect(readFlipFile(file).length).toBeLessThanOrEqual(4096);
});

describe.each(FLIP_FILES)(`%s (seed ${SEED})`, (file) => {
  const all = EXHAUSTIVE.includes(file);

  it('is whole', async () => {
    expect(await verifyBytes(environment, readFlipFile(file))).toMatchObject({ status: 'ok' });
  });

  it('each flipped bit is reported, or no reader looks at it', async () => {
    const bytes = readFlipFile(file);
    const unused = unusedFooterBits(bytes, (await openBytes(environment, bytes)).table);
    const missed: string[] = [];
    await flipBits(environment, bytes, all, (report, byte, bit) => {
      if (report.status !== 'ok') {
        expect(report.findings.some(({ severity }) => severity === 'damage')).toBe(
          report.status !== 'unsupported',
        );
        return;
      }
      // Between aligned blocks: such bytes are pointed out all the same.
      const inGap = report.findings.some(({ code, severity, block }) => {
        if (code !== 'unreferenced_bytes' || severity !== 'warning') return false;
        return byte >= block!.offset && byte < block!.offset + block!.size;
      });
      // The global sequence number is written over by ingestion; a flip in it looks the same, and the number is told.
      if (report.findings.some(({ code }) => code === 'global_seqno_patched')) return;
      if (!inGap && !unused.has(8 * byte + bit)) missed.push(`byte ${byte} bit ${bit}`);
    });
    expect(missed).toEqual([]);
  });

  it('is reported when it is cut', async () => {
    await cutEverywhere(environment, readFlipFile(file), all, (report, length) => {
      expect(report.status, `${length} bytes`).not.toBe('ok');
    });
  });
});
