import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { writeFixed64 } from '../../bytes/fixed.ts';
import { memorySource } from '../../bytes/source.ts';
import { utf8 } from '../../bytes/text.ts';
import { CorruptionError, UnsupportedError } from '../../errors.ts';
import { twinHashFunctions } from '../../hash/hash-functions.ts';
import { BlockIterator } from '../block/block-iterator.ts';
import { readFooter } from '../footer.ts';
import { type CuckooTable, openCuckooTable } from './cuckoo-table.ts';

const hashes = twinHashFunctions();
const fixture = readFileSync(
  fileURLToPath(new URL('../../../test/fixtures/cuckoo/cuckoo.sst', import.meta.url)),
);

function open(bytes: Uint8Array): CuckooTable {
  const source = memorySource(bytes, 'c.sst');
  return openCuckooTable(source, readFooter(source, hashes));
}

/** The file with another fixed64 as the value of a property. */
function patched(name: string, value: bigint): Uint8Array {
  const bytes = new Uint8Array(fixture);
  const { offset, size } = open(bytes).metaindex!.find((entry) => entry.type === 'properties')!;
  const properties = new BlockIterator();
  properties.reset(bytes.subarray(offset, offset + size));
  while (properties.next()) {
    if (utf8(properties.key.subarray(0, properties.keyLength)) === name) {
      expect(properties.valueEnd - properties.valueStart).toBe(8);
      writeFixed64(bytes, offset + properties.valueStart, value);
      return bytes;
    }
  }
  throw new Error(`no property ${name}`);
}

describe('a file of RocksDB', () => {
  const table = open(fixture);

  it('tells what its properties say', () => {
    expect(table.problems).toEqual([]);
    expect(table.summary).toMatchObject({
      entries: 40,
      keyLength: 13,
      userKeyLength: 5,
      valueLength: 9,
      lastLevel: false,
    });
    const { tableSize, blockSize } = table.summary!;
    expect((tableSize + blockSize - 1) * 22).toBe(table.rowsEnd);
  });

  it('declines its rows', () => {
    expect(() => table.rows()).toThrow(UnsupportedError);
    expect(() => table.rows()).toThrow(
      expect.objectContaining({ feature: 'table format', value: 'cuckoo', file: 'c.sst' }),
    );
  });
});

describe('properties that cannot be', () => {
  it.each([
    [0n, /hash table of 0 places/],
    [1_000_000n, /a hash table of 1000000 places takes \d+ bytes .* but the file has/],
    [2n ** 64n - 1n, /a hash table of \d+ places/],
  ])('a table size of %d', (size, message) => {
    const table = open(patched('rocksdb.cuckoo.hash.size', size));
    expect(table.problems).toEqual([expect.any(CorruptionError)]);
    expect(table.problems[0]).toMatchObject({ code: 'properties_mismatch', file: 'c.sst' });
    expect(table.problems[0]!.message).toMatch(message);
  });

  it('survives any changed byte of its meta blocks', () => {
    const start = open(fixture).rowsEnd!;
    for (let at = start; at < fixture.length - 8; at++) {
      for (const value of [0, 0x7f, 0xff]) {
        const bytes = new Uint8Array(fixture);
        bytes[at] = value;
        try {
          open(bytes);
        } catch (error) {
          // The footer alone is thrown.
          expect(at).toBeGreaterThanOrEqual(fixture.length - 53);
          if (!(error instanceof CorruptionError) && !(error instanceof UnsupportedError)) throw error;
        }
      }
    }
  });
});
