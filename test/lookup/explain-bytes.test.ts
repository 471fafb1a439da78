/** What `explain --at` says of the bytes of a file: each lies in one part, and the parts fit together. */

import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { FileSource } from '../../src/engine/environment.ts';
import { detectFileKind } from '../../src/format/file-kind.ts';
import { type NodeEnvironment, openNodeEnvironment } from '../../src/node/environment.ts';
import { explainOffset, type OffsetMeaning } from '../../src/tools/explain/explain-offset.ts';
import { FIXTURE_ROOT } from '../support/fixtures.ts';

let environment: NodeEnvironment;
let source: FileSource | undefined;
beforeAll(async () => {
  environment = await openNodeEnvironment();
  return () => source?.close();
});

/** A fixture, and what its bytes mean. */
function open(name: string): { size: number; meaning: (offset: number) => Promise<OffsetMeaning> } {
  source?.close();
  const file = { path: path.join(FIXTURE_ROOT, name), named: true };
  const opened = environment.files.open(file.path);
  source = opened;
  const input = { file, source: opened, kind: detectFileKind(opened, environment.hashes, file.path) };
  return {
    size: opened.size,
    meaning: (offset) => explainOffset(environment, input, offset, {}, () => undefined),
  };
}

const SUBJECTS: Readonly<Record<string, readonly string[]>> = {
  'demo/basic.sst': ['entry.lengths', 'entry.value', 'filter.line', 'filter.metadata', 'footer.magic'],
  'demo/tombstones.sst': ['entry.trailer'],
  'flip/fv5-data-hash-index.sst': ['block.hash_bucket', 'block.hash_buckets', 'block.restart'],
  'flip/fv7-separated-kv-uniform-index.sst': ['block.values_offset', 'entry.value', 'entry.key'],
  'flip/fv5-block-align.sst': ['unreferenced'],
  'index/hash.sst': ['hash_index.prefixes', 'hash_index.metadata'],
  'index/first-key.sst': ['entry.value'],
  'content/timestamps.sst': ['entry.timestamp'],
  'leveldb/none-bloom.ldb': ['filter.bits', 'filter.start', 'filter.starts_offset', 'filter.base'],
  'cuckoo/cuckoo.sst': ['bucket.key', 'bucket.value'],
  'plain/prefix-variable.sst': ['entry.key', 'entry.value'],
};

describe('parts of a file', () => {
  it.each(Object.entries(SUBJECTS))('%s', async (name, wanted) => {
    const { size, meaning } = open(name);
    const parts = new Set<string>();
    for (let offset = 0; offset < size; ) {
      const first = await meaning(offset);
      const { part, partOffset, partSize } = first;
      expect({ offset, part, partOffset }).toEqual({ offset, part, partOffset: offset });
      expect(partSize).toBeGreaterThan(0);
      const end = partOffset + partSize;
      const last = await meaning(end - 1);
      expect({ ...last, offset, byte: first.byte, text: first.text }).toEqual(first);
      parts.add(part);
      offset = end;
      expect(offset).toBeLessThanOrEqual(size);
    }
    for (const part of wanted) expect([...parts]).toContain(part);
  });
});

it('of an index the separator and the block that it leads to', async () => {
  const { size, meaning } = open('index/binary-not-compressed.sst');
  for (let offset = size - 1; offset > 0; offset--) {
    const { block, part, entry, text } = await meaning(offset);
    if (block?.type !== 'index' || part !== 'entry.value') continue;
    const [, target] = /^handle of the block at (\d+), \d+ bytes$/.exec(text)!;
    expect((await meaning(Number(target))).block).toMatchObject({ type: 'data', offset: Number(target) });
    expect(entry!.key.length).toBeGreaterThan(0);
    return;
  }
  expect.fail('no entry of an index');
});
