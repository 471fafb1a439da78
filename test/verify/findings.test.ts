import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT_ROOT } from '../support/cli.ts';

/** docs/findings.md is the list that scripts rely on: each code of the sources stands there. */
const SOURCE = path.join(PROJECT_ROOT, 'src');
const DOCUMENTED = new Set(
  readFileSync(path.join(PROJECT_ROOT, 'docs/findings.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...line.split('|')[1]!.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code!)),
);

/** Errors and findings are made in these ways only. */
const MAKERS = [
  /new CorruptionError\(\s*'([a-z_]+)'/g,
  /new IoError\(\s*'([a-z_]+)'/g,
  /\bcode: '([a-z_]+)'/g,
  /new ByteReader\([^;]*?'([a-z_]+)'/g,
  /this\.report\(\s*'([a-z_]+)'/g,
  /this\.add\(\s*'([a-z_]+)'/g,
  /\bcorrect\(\s*'([a-z_]+)'/g,
];
/** Of wrong usage and of bugs, which are no findings; `log` never leaves the guess at what a file is. */
const OTHERS = new Set(['internal', 'invalid_argument', 'log']);

function codesOfSources(): Map<string, string> {
  const codes = new Map<string, string>();
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => /\.ts$/.test(name) && !/\.test\.ts$/.test(name))) {
    const text = readFileSync(path.join(SOURCE, file), 'utf8');
    for (const maker of MAKERS) for (const [, code] of text.matchAll(maker)) codes.set(code!, file);
  }
  return codes;
}

it('documents every code', () => {
  const codes = codesOfSources();
  expect(codes.size).toBeGreaterThan(20);
  const missing = [...codes].filter(([code]) => !DOCUMENTED.has(code) && !OTHERS.has(code));
  expect(missing).toEqual([]);
});

it('documents no code that is not there', () => {
  const text = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(path.join(SOURCE, name), 'utf8'))
    .join('\n');
  const severities = new Set(['damage', 'warning', 'note']);
  const members = new Set(['block', 'stored', 'computed', 'lost', 'shape']);
  const unknown = [...DOCUMENTED].filter(
    (code) => !severities.has(code) && !members.has(code) && !text.includes(`'${code}'`),
  );
  expect(unknown).toEqual([]);
});
