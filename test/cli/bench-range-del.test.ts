import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Ajv from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliResult, PROJECT_ROOT, runCli } from '../support/cli.ts';

const schema = JSON.parse(
  readFileSync(path.join(PROJECT_ROOT, 'schema/bench-range-del.schema.json'), 'utf8'),
);
const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false });
const isDocument = ajv.compile(schema);

const SMALL = ['--num_range_tombstones=50', '--num_runs=6', '--tombstone_start_upper_bound=100000'];

describe('bench-range-del', () => {
  it("prints the four lines of RocksDB's bench under either name", async () => {
    for (const name of ['bench-range-del', 'range_del_aggregator_bench']) {
      const { status, stdout } = await runCli([name, ...SMALL, '--should-deletes-per-run=5']);
      expect(status).toBe(0);
      expect(stdout.toString()).toMatch(
        /^={25}\nResults:\n={25}\nFragment Tombstones: {5}[\d.e-]+ us\nAddTombstones: {11}[\d.e-]+ us\nShouldDelete \(first\): {4}[\d.e-]+ us\nShouldDelete \(rest\): {5}[\d.e-]+ us\n$/,
      );
    }
  });

  it('leaves the rest out when there is none, and says on stderr how it was timed', async () => {
    const { stdout, stderr } = await runCli(['bench-range-del', ...SMALL]);
    expect(stdout.toString()).not.toContain('rest');
    expect(stderr).toMatch(/blocks of \d+ runs/);
    expect(stderr).toMatch(/clock costs \d+ ns/);
    expect(stderr).toContain('put in key order before the clock started');
    const drawn = await runCli(['bench-range-del', ...SMALL, '--input', 'drawn']);
    expect(drawn.stderr).toContain('sorting them was timed');
  });

  describe('--json', () => {
    let read: Document;
    let compaction: Document;

    beforeAll(async () => {
      read = await document([...SMALL, '--should_deletes_per_run=4', '--json']);
      compaction = await document([...SMALL, '--use_compaction_range_del_aggregator=true', '--json']);
    });

    it('has parameters, means, spread and machine facts', () => {
      expect(read.schema).toBe(1);
      expect(read.params).toMatchObject({
        numRangeTombstones: 50,
        numRuns: 6,
        shouldDeletesPerRun: 4,
        seed: 0,
      });
      for (const value of Object.values(read.results)) expect(value).toBeGreaterThan(0);
      expect(read.spread.fragmentTombstonesUs).toMatchObject({ batches: expect.any(Number) });
      expect(read.machine.node).toBe(process.version);
      expect(compaction.results.shouldDeleteRestUs).toBeNull();
    });

    it('shows that reads never build the set of sequence numbers, and compactions once a list', () => {
      expect(read.seqnoSetsBuilt).toBe(0);
      expect(compaction.seqnoSetsBuilt).toBe(6);
    });
  });

  it('compares the set built early with the set built late', async () => {
    const both = await document([...SMALL, '--compare', '--json']);
    expect(both.seqnoSetsBuilt).toBe(0);
    expect(both.eager!.seqnoSetsBuilt).toBe(6);
    const { stdout } = await runCli(['bench-range-del', ...SMALL, '--compare']);
    expect(stdout.toString()).toMatch(/lazy\/eager/);
  });

  it("takes one hyphen as well as two, as RocksDB's bench does", async () => {
    const { params } = await document(['-num_range_tombstones=7', '-num_runs', '2', '--json']);
    expect(params).toMatchObject({ numRangeTombstones: 7, numRuns: 2 });
  });

  it("benches a file's own tombstones", async () => {
    const { files } = await document(['--file', 'demo:tombstones.sst', '--json']);
    const [file] = files!;
    expect(file).toMatchObject({ path: 'demo:tombstones.sst', fragments: 17, widestStack: 5 });
    expect(file.density.rangeTombstones).toBe(file.tombstones);
    expect(file.density.entries).toBe(file.entries);
    expect(file.coveredEntries).toBeGreaterThan(0);
    const dump = await runCli(['dump', 'demo:tombstones.sst', '--json']);
    expect(file.entries).toBe(JSON.parse(dump.stdout.toString()).properties.numEntries);
  });

  describe('files that are not whole', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sstkit-bench-range-del-'));
    const damaged = path.join(folder, 'damaged.sst');

    beforeAll(() => {
      const bytes = readFileSync(path.join(PROJECT_ROOT, 'test/fixtures/demo/tombstones.sst'));
      bytes[20]! ^= 1;
      writeFileSync(damaged, bytes);
    });

    afterAll(() => rmSync(folder, { recursive: true }));

    it('have their damage told once', async () => {
      const { status, stderr } = await runCli(['bench-range-del', '--file', damaged, '--json']);
      expect(status).toBe(1);
      expect(stderr.match(/mismatch/g)).toHaveLength(1);
    });

    it('are an error as JSON when none could be read, and no table as text', async () => {
      const asJson = await runCli(['bench-range-del', '--file', 'missing.sst', '--json']);
      expect(asJson.status).toBe(3);
      expect(JSON.parse(asJson.stdout.toString())).toMatchObject({ error: { code: 'not_found' } });
      const asText = await runCli(['bench-range-del', '--file', 'missing.sst']);
      expect([asText.status, asText.stdout.toString()]).toEqual([3, '']);
    });

    it('are read with the timestamps that are asked for', async () => {
      const { status, stderr } = await runCli([
        'bench-range-del',
        '--file=demo:tombstones.sst',
        '--ts-size=64',
      ]);
      expect(status).toBe(1);
      expect(stderr).toContain('no room');
    });
  });

  it('refuses what cannot be meant', async () => {
    expect((await runCli(['bench-range-del', '--num_runs=0'])).status).toBe(2);
    expect((await runCli(['bench-range-del', '--tombstone_width_mean=wide'])).status).toBe(2);
    expect((await runCli(['bench-range-del', '--should_deletes_per_run=2000'])).status).toBe(2);
  });

  it('refuses what would need more memory than there is, in words', async () => {
    for (const flag of [
      '--num_range_tombstones=99999999999999999999',
      '--add_tombstones_per_run=1000000',
      '--should_deletes_per_run=1000000000',
      '--tombstone_width_stddev=-1',
      '--tombstone_start_upper_bound=18446744073709551615',
    ]) {
      const { status, stderr } = await runCli([
        'bench-range-del',
        flag,
        '--should_delete_upper_bound=2000000000',
      ]);
      expect([flag, status]).toEqual([flag, 2]);
      expect(stderr).not.toContain('internal');
    }
  });
});

interface Document {
  schema: number;
  params: Record<string, number>;
  results: Record<string, number | null>;
  spread: Record<string, unknown>;
  seqnoSetsBuilt: number;
  eager?: { seqnoSetsBuilt: number };
  machine: { node: string };
  // biome-ignore lint/suspicious/noExplicitAny: its shape is what the schema says
  files?: any[];
}

async function document(args: string[]): Promise<Document> {
  const result: CliResult = await runCli(['bench-range-del', ...args]);
  expect(result.status).toBe(0);
  const document = JSON.parse(result.stdout.toString());
  expect(isDocument(document), ajv.errorsText(isDocument.errors)).toBe(true);
  return document;
}
