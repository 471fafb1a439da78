import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from './support/cli.ts';

/**
 * Imports point one way:
 * commands -> (compat, tools, render, node) -> engine -> format -> (operators, codec, hash, kernels) -> bytes -> errors.
 * A folder may import itself and what is listed; `types` may be imported as types only.
 */
interface Rule {
  values: readonly string[];
  types?: readonly string[];
}

const BELOW_FORMAT = ['operators', 'codec', 'hash', 'kernels', 'bytes', 'errors'];
const BELOW_ENGINE = ['format', ...BELOW_FORMAT];
const BELOW_TOOLS = ['engine', ...BELOW_ENGINE];
/** What oclif's side is made of: src/cli.ts, flags, the base command. */
const SHELL = ['output', 'table-flags', 'base-command', 'flags', 'argv', 'exit-status', 'cli'];

const RULES: Readonly<Record<string, Rule>> = {
  errors: { values: [] },
  bytes: { values: ['errors'] },
  kernels: { values: ['hash', 'codec', 'operators', 'bytes', 'errors'] },
  hash: { values: ['kernels', 'codec', 'operators', 'bytes', 'errors'] },
  codec: { values: ['kernels', 'hash', 'operators', 'bytes', 'errors'] },
  operators: { values: ['kernels', 'hash', 'codec', 'bytes', 'errors'] },
  format: { values: BELOW_FORMAT },
  engine: { values: BELOW_ENGINE },
  node: { values: BELOW_TOOLS },
  tools: { values: ['node', ...BELOW_TOOLS] },
  // What render draws is handed in.
  render: { values: ['errors'], types: ['tools', 'node', ...BELOW_TOOLS] },
  compat: { values: ['tools', 'render', 'node', 'exit-status', ...BELOW_TOOLS], types: ['process-host'] },
  commands: { values: ['compat', 'tools', 'render', 'node', ...SHELL, ...BELOW_TOOLS] },
  index: { values: BELOW_TOOLS },
  argv: { values: ['errors'] },
  'exit-status': { values: ['errors'] },
  flags: { values: ['render', 'tools', 'errors'] },
  'report-error': { values: ['exit-status', 'render', 'errors'] },
  'process-host': { values: ['argv', 'report-error', 'exit-status', 'render'] },
  'base-command': { values: ['process-host', 'argv', 'errors'], types: ['exit-status', 'render'] },
  'table-flags': { values: ['flags', ...BELOW_TOOLS] },
  output: { values: ['node', 'render', 'errors'] },
  cli: { values: ['commands', 'report-error', ...SHELL, 'errors'] },
  sst_dump: { values: ['compat', 'process-host'] },
};

/** Runs in a browser as it is: no module of Node, no package. */
const CORE = ['errors', 'bytes', 'kernels', 'hash', 'codec', 'operators', 'format', 'engine', 'index'];

interface Import {
  file: string;
  specifier: string;
  typesOnly: boolean;
}

const source = path.join(PROJECT_ROOT, 'src');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .map((file) => file.split(path.sep).join('/'))
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.endsWith('.d.ts'));
const imports = files.flatMap(importsOf);

/** `format/block/block.ts` belongs to `format`, `errors.ts` to `errors`. */
function partOf(file: string): string {
  return file.split('/')[0]!.replace(/\.ts$/, '');
}

function importsOf(file: string): Import[] {
  const text = readFileSync(path.join(source, file), 'utf8');
  const found: Import[] = [];
  const statements = /^(?:import|export)\s+(type\s+)?([^'";]*?from\s+)?'([^']+)'/gm;
  for (const [, type, names, specifier] of text.matchAll(statements)) {
    const typesOnly = type !== undefined || onlyTypeNames(names);
    found.push({ file, specifier: specifier!, typesOnly });
  }
  for (const [, specifier] of text.matchAll(/\bimport\('([^']+)'\)/g)) {
    found.push({ file, specifier: specifier!, typesOnly: false });
  }
  return found;
}

/** `{ type A, type B } from` imports no value. */
function onlyTypeNames(names: string | undefined): boolean {
  const list = /^\{([^}]*)\}/.exec(names?.trim() ?? '')?.[1];
  const parts = list
    ?.split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return parts !== undefined && parts.length > 0 && parts.every((part) => part.startsWith('type '));
}

function targetOf({ file, specifier }: Import): string {
  return path.posix.normalize(path.posix.join(path.posix.dirname(file), specifier));
}

it('finds the sources', () => {
  expect(files.length).toBeGreaterThan(10);
  expect(imports.length).toBeGreaterThan(10);
});

it('names files with their extension', () => {
  const without = imports.filter(
    ({ specifier }) => specifier.startsWith('.') && !/\.(ts|json)$/.test(specifier),
  );
  expect(without).toEqual([]);
});

describe.each(Object.entries(RULES))('%s', (part, { values, types = [] }) => {
  const own = imports.filter(({ file }) => partOf(file) === part);

  it('imports only from below', () => {
    const wrong = own.filter((each) => {
      if (!each.specifier.startsWith('.')) return false;
      const target = partOf(targetOf(each));
      if (target === part || values.includes(target)) return false;
      return !(each.typesOnly && types.includes(target));
    });
    expect(wrong).toEqual([]);
  });

  if (CORE.includes(part)) {
    it('needs neither Node nor a package', () => {
      expect(own.filter(({ specifier }) => !specifier.startsWith('.'))).toEqual([]);
    });
  }
});

it('has a rule for every part', () => {
  const parts = new Set(files.map(partOf));
  expect([...parts].filter((part) => RULES[part] === undefined)).toEqual([]);
});

it('has no import cycle between files, types included', () => {
  const edges = new Map<string, string[]>(files.map((file) => [file, []]));
  for (const each of imports) {
    if (each.specifier.startsWith('.')) edges.get(each.file)!.push(targetOf(each));
  }
  const done = new Set<string>();
  const cycleFrom = (file: string, trail: readonly string[]): readonly string[] | undefined => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of edges.get(file) ?? []) {
      const cycle = cycleFrom(next, [...trail, file]);
      if (cycle !== undefined) return cycle;
    }
    done.add(file);
    return undefined;
  };
  expect(files.map((file) => cycleFrom(file, [])).filter((cycle) => cycle !== undefined)).toEqual([]);
});
