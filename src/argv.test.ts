import { describe, expect, it } from 'vitest';
import { asksForJson, flagTable, nearest, rewriteArgv, seemsToAskForJson } from './argv.ts';
import { InvalidArgumentError } from './errors.ts';

const TABLE = flagTable({
  'merge-operator': { type: 'option' },
  format: { type: 'option' },
  out: { type: 'option', char: 'o' },
  key: { type: 'option', aliases: ['user_key'] },
  json: { type: 'boolean' },
  'no-filter': { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  color: { type: 'boolean', allowNo: true },
  recursive: { type: 'boolean', char: 'r' },
});

const rewrite = (...argv: string[]): string[] => rewriteArgv(argv, TABLE);

describe('switches', () => {
  const on = ['--dry-run', '--dry_run', '--dry-run=true', '--dry_run=1', '--dry-run=yes'];
  const off = [...['false', '0', 'no'].map((v) => `--dry-run=${v}`), '--no-dry-run', '--no_dry_run'];

  it.each(on)('%s is on', (word) => {
    expect(rewrite('a', word, 'b')).toEqual(['a', '--dry-run', 'b']);
  });
  it.each(off)('%s is off', (word) => {
    expect(rewrite('a', word, 'b')).toEqual(['a', 'b']);
  });
  it('never takes the following word', () => {
    expect(rewrite('--dry-run', 'false')).toEqual(['--dry-run', 'false']);
  });
  it('counts the last one', () => {
    expect(rewrite('--dry-run', '--dry-run=no')).toEqual([]);
    expect(rewrite('--no-dry-run', '--dry-run')).toEqual(['--dry-run']);
    expect(rewrite('--dry-run', '--dry-run')).toEqual(['--dry-run']);
  });
  it('negates explicitly what oclif can negate', () => {
    expect(rewrite('--color=false')).toEqual(['--no-color']);
    expect(rewrite('--no-color')).toEqual(['--no-color']);
    expect(rewrite('--no-color=false')).toEqual(['--color']);
  });
  it('knows a switch whose own name begins with no', () => {
    expect(rewrite('--no-filter')).toEqual(['--no-filter']);
    expect(rewrite('--no_filter=yes')).toEqual(['--no-filter']);
    expect(rewrite('--no-filter=no')).toEqual([]);
    expect(rewrite('--no-filter', '--no-no-filter')).toEqual([]);
  });
  it.each(['--dry-run=maybe', '--dry-run=', '--dry_run=TRUE1', '--no-color=2'])('refuses %s', (word) => {
    expect(() => rewrite(word)).toThrow(InvalidArgumentError);
  });
  it('leaves short switches to oclif', () => {
    expect(rewrite('-r', 'dir')).toEqual(['-r', 'dir']);
  });
});

describe('value flags', () => {
  it.each([
    [['--merge_operator', 'max'], ['--merge-operator=max']],
    [['--merge-operator=a=b_c'], ['--merge-operator=a=b_c']],
    [['--user-key', 'x'], ['--key=x']],
    [['--user_key=x'], ['--key=x']],
    [['--key', '-5'], ['--key=-5']],
    [['--key', '--strange'], ['--key=--strange']],
    [['--key='], ['--key=']],
    [
      ['-o', '--dry-run', 'x'],
      ['-o', '--dry-run', 'x'],
    ],
  ])('%j becomes %j', (argv, words) => {
    expect(rewrite(...argv)).toEqual(words);
  });
  it.each([[['--out']], [['--out', '--dry-run']], [['--out', '-r']], [['--out', '--']]])(
    '%j lacks its value',
    (argv) => {
      expect(() => rewrite(...argv)).toThrow('--out expects a value');
    },
  );
});

describe('json', () => {
  it('is format json', () => {
    expect(rewrite('--json', 'f')).toEqual(['--format=json', 'f']);
    expect(rewrite('--json', '--format', 'json')).toEqual(['--format=json']);
    expect(rewrite('--json=no')).toEqual([]);
    expect(rewrite('--json', '--no-json')).toEqual([]);
  });
  it('stays a switch without a format', () => {
    expect(rewriteArgv(['--json'], flagTable({ json: { type: 'boolean' } }))).toEqual(['--json']);
  });
  it('is told from a command line', () => {
    expect(asksForJson(rewrite('--format', 'json'))).toBe(true);
    expect(asksForJson(rewrite('--format', 'csv'))).toBe(false);
    expect(asksForJson(['--', '--json'])).toBe(false);
    expect(seemsToAskForJson(['--bad', '--format', 'json'])).toBe(true);
    expect(seemsToAskForJson(['--json=false'])).toBe(false);
    expect(seemsToAskForJson(['--', '--json'])).toBe(false);
  });
});

it('touches nothing after --', () => {
  expect(rewrite('--', '--dry_run=false', '--json')).toEqual(['--', '--dry_run=false', '--json']);
  expect(rewrite('--dry_run', '--', '--dry_run')).toEqual(['--dry-run', '--', '--dry_run']);
});

it('names the flag that was meant', () => {
  expect(() => rewrite('--dry-rum')).toThrow('unknown flag --dry-rum; did you mean --dry-run?');
  expect(() => rewrite('--quite-other=3')).toThrow(/^unknown flag --quite-other$/);
  expect(() => rewrite('--no-key')).toThrow(InvalidArgumentError);
});

it('finds the nearest word', () => {
  expect(nearest('dmup', ['dump', 'scan'])).toBe('dump');
  expect(nearest('verfy', ['dump', 'verify'])).toBe('verify');
  expect(nearest('qqqqqq', ['dump', 'verify'])).toBeUndefined();
});
