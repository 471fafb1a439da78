import { beforeAll, describe, expect, it } from 'vitest';
import { type CliResult, runCli } from '../support/cli.ts';

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

  it("benches a file's own tombstones", async () => {
    const { status, stdout } = await runCli(['bench-range-del', '--file', 'demo:tombstones.sst', '--json']);
    expect(status).toBe(0);
    const [file] = JSON.parse(stdout.toString()).files;
    expect(file).toMatchObject({ path: 'demo:tombstones.sst', fragments: 17, widestStack: 5 });
    expect(file.density.rangeTombstones).toBe(file.tombstones);
    expect(file.coveredEntries).toBeGreaterThan(0);
  });

  it('refuses what cannot be meant', async () => {
    expect((await runCli(['bench-range-del', '--num_runs=0'])).status).toBe(2);
    expect((await runCli(['bench-range-del', '--tombstone_width_mean=wide'])).status).toBe(2);
    expect((await runCli(['bench-range-del', '--should_deletes_per_run=2000'])).status).toBe(2);
    expect((await runCli(['bench-range-del', '--file', 'missing.sst'])).status).toBe(3);
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
}

async function document(args: string[]): Promise<Document> {
  const result: CliResult = await runCli(['bench-range-del', ...args]);
  expect(result.status).toBe(0);
  return JSON.parse(result.stdout.toString());
}
