import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type NodeEnvironment, openNodeEnvironment } from '../../src/node/environment.ts';
import { PROJECT_ROOT } from '../support/cli.ts';
import { flipBit } from '../support/patch.ts';
import { SeededRandom } from '../support/random.ts';
import { SEED } from './flip-files.ts';
import { verifyBytes } from './table-surgery.ts';

/** Every table of this project, and of the larger set of whole databases that lies beside it on some machines. */
const ROOTS = [
  path.join(PROJECT_ROOT, 'test/fixtures'),
  path.resolve(PROJECT_ROOT, '../shared/fixtures/db'),
].filter((root) => existsSync(root));

const FILES = ROOTS.flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(sst|ldb)$/.test(name))
    .sort()
    .map((name) => ({ name, file: path.join(root, name) })),
);

/** Not whole, or not read, on purpose. */
const SPECIAL = /demo.damaged\.sst$|cuckoo\.sst$/;

const SCALE = Number(process.env.SSTKIT_TEST_SCALE ?? 1);
const FLIPS_PER_FILE = 3;

let environment: NodeEnvironment;
beforeAll(async () => {
  environment = await openNodeEnvironment();
});

const read = (file: string): Uint8Array => new Uint8Array(readFileSync(file));

describe.each(FILES.filter(({ name }) => !SPECIAL.test(name)))('$name', ({ file }) => {
  it('is whole, also by checksums alone', async () => {
    const bytes = read(file);
    for (const checksumsOnly of [false, true]) {
      const report = await verifyBytes(environment, bytes, { checksumsOnly }, file);
      const wrong = report.findings.filter(({ severity }) => severity !== 'note');
      expect(wrong).toEqual([]);
      expect(report).toMatchObject({ status: 'ok', kind: 'sst', bytes: bytes.length });
    }
  });
});

/** Anywhere in any file: what is behind the padding of footers is in flips.test.ts. */
it(`flipped bits are reported (seed ${SEED})`, async () => {
  const random = new SeededRandom(SEED);
  for (const { file } of FILES) {
    const bytes = read(file);
    const whole = await verifyBytes(environment, bytes, {}, file);
    const absent = whole.findings.some(({ code }) => code === 'checksums_absent');
    for (let i = 0; i < FLIPS_PER_FILE * SCALE; i++) {
      const byte = random.below(bytes.length - 53);
      const bit = random.below(8);
      const options = { shapeBudgetBytes: 0 };
      const report = await verifyBytes(environment, flipBit(bytes, byte, bit), options, file);
      if (absent || SPECIAL.test(file)) continue;
      const pointedOut = report.findings.some(
        ({ code, severity }) =>
          code === 'global_seqno_patched' || (code === 'unreferenced_bytes' && severity === 'warning'),
      );
      if (!pointedOut) expect(report.status, `${file} byte ${byte} bit ${bit}`).not.toBe('ok');
    }
  }
});
