import { describe, expect, it } from 'vitest';
import { CorruptionError, InvalidArgumentError, IoError, UnsupportedError } from './errors.ts';
import { ExitStatus, errorDocument, statusOfError, worstStatus } from './exit-status.ts';

const corruption = new CorruptionError('block_checksum', 'crc32c mismatch', {
  file: 'a.sst',
  offset: 4096,
  blockType: 'data',
});

describe('statusOfError', () => {
  it.each([
    [corruption, 1],
    [new InvalidArgumentError('key', 'x', 'bad'), 2],
    [new IoError('ENOENT', 'a.sst', 'no such file'), 3],
    [new UnsupportedError('compression', 'xpress', 'not read'), 4],
    [new TypeError('x is not a function'), 5],
    ['a text', 5],
    [undefined, 5],
  ])('%s is %d', (error, status) => {
    expect(statusOfError(error)).toBe(status);
  });
});

describe('worstStatus', () => {
  it.each([
    [[], 0],
    [[0, 0], 0],
    [[4, 0], 4],
    [[4, 3], 3],
    [[3, 1, 4], 1],
    [[1, 5, 3], 5],
    [[130, 5], 130],
  ] as [ExitStatus[], ExitStatus][])('of %j is %d', (statuses, worst) => {
    expect(worstStatus(...statuses)).toBe(worst);
  });
  it('orders every status', () => {
    for (const status of Object.values(ExitStatus)) expect(worstStatus(status)).toBe(status);
  });
});

describe('errorDocument', () => {
  it('carries the place', () => {
    expect(JSON.parse(JSON.stringify(errorDocument(corruption)))).toEqual({
      schema: 1,
      error: {
        code: 'block_checksum',
        message: corruption.message,
        file: 'a.sst',
        offset: 4096,
        blockType: 'data',
      },
    });
  });
  it('calls a bug internal', () => {
    expect(JSON.parse(JSON.stringify(errorDocument(new TypeError('oops'))))).toEqual({
      schema: 1,
      error: { code: 'internal', message: 'oops' },
    });
  });
});
