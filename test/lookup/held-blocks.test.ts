/** Blocks that somebody holds keep their contents while others are read: stored bytes go through one kept buffer. */

import { expect, it } from 'vitest';
import { openNodeEnvironment } from '../../src/node/environment.ts';
import type { ExpectedEntry } from '../support/fixtures.ts';
import { SeededRandom } from '../support/random.ts';
import { makeTable, openMade } from './made-tables.ts';

const ENTRIES = 600;
const SEED = 20261201;

it(`stays what it was, where compressed and uncompressed blocks come in turns (seed ${SEED})`, async () => {
  const environment = await openNodeEnvironment();
  await environment.codecs.load('snappy');
  const random = new SeededRandom(SEED);
  // Drawn values do not shrink, constant ones do.
  const entries = Array.from({ length: ENTRIES }, (_, i): ExpectedEntry => {
    const value = (i >> 4) % 3 === 0 ? random.bytes(300) : new Uint8Array(300).fill(i);
    return {
      key: Buffer.from(String(i).padStart(6, '0')).toString('hex'),
      seqno: String(i + 1),
      type: 'put',
      value: Buffer.from(value).toString('hex'),
    };
  });
  const options = { compression: 'snappy', blockSize: 1024 } as const;
  const bytes = await makeTable(environment, options, { entries, rangeTombstones: [] });
  const table = openMade(environment, bytes, 'in turns');

  const handles = new Map<number, { offset: number; size: number }>();
  const iterator = table.newIterator();
  for (iterator.seekToFirst(); iterator.valid; iterator.next()) {
    const { blockOffset: offset, blockSize: size } = iterator;
    handles.set(offset, { offset, size });
  }
  const held = [...handles.values()].map((handle) => ({
    handle,
    contents: table.store.data(handle.offset, handle.size).contents,
  }));

  const { blocks } = table.reader;
  const types: number[] = [];
  for (const { handle, contents } of held) {
    types.push(blocks.readStored(handle, 'data').compressionType);
    expect(contents).toEqual(blocks.read(handle, 'data'));
  }
  const turns = types.filter((type, i) => i > 0 && type !== types[i - 1]);
  expect(turns.length).toBeGreaterThan(20);
});
