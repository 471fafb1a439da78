import { Config } from '@oclif/core/config';
import { describe, expect, it } from 'vitest';
import { DropInCommand, type SstkitCommand } from '../../src/base-command.ts';
import { COMMANDS } from '../../src/cli.ts';
import { PROJECT_ROOT, runCli } from '../support/cli.ts';

type Parsed = { flags: Record<string, unknown> };

/** What a command's own parse makes of a command line. */
async function parseFlags(name: string, argv: string[]): Promise<Record<string, unknown>> {
  const command = COMMANDS[name]!;
  const words = Object.values(command.args)
    .filter(({ required }) => required === true)
    .map(() => 'x');
  const instance = new command([...argv, ...words], new Config({ root: PROJECT_ROOT })) as unknown as {
    parse(input: typeof SstkitCommand): Promise<Parsed>;
  };
  return (await instance.parse(command as unknown as typeof SstkitCommand)).flags;
}

const PARSED = Object.keys(COMMANDS).filter((name) => !(COMMANDS[name]!.prototype instanceof DropInCommand));

describe.each(PARSED)('the switches of %s', (name) => {
  const flags = Object.entries(COMMANDS[name]!.flags);
  const switches = flags.filter(([, flag]) => flag.type === 'boolean').map(([flag]) => flag);

  it.each(switches)('--%s in all its forms', async (flag) => {
    const isJson = flag === 'json' && flags.some(([other]) => other === 'format');
    const spellings = [flag, flag.replaceAll('-', '_')];
    for (const text of spellings) {
      for (const word of [`--${text}`, `--${text}=true`, `--${text}=1`, `--${text}=yes`]) {
        const parsed = await parseFlags(name, [word]);
        if (isJson) expect(parsed.format).toBe('json');
        else expect(parsed[flag]).toBe(true);
      }
      for (const word of [`--${text}=false`, `--${text}=0`, `--${text}=no`, `--no-${text}`]) {
        const parsed = await parseFlags(name, [word]);
        if (isJson) expect(parsed.format).not.toBe('json');
        else expect(parsed[flag]).not.toBe(true);
      }
      await expect(parseFlags(name, [`--${text}=maybe`])).rejects.toMatchObject({ code: 'invalid_argument' });
    }
  });
});

describe('sstkit', () => {
  it('tells its version', async () => {
    const line = /^sstkit\/\d+\.\d+\.\d+ \S+-\S+ node-v\d+\S*$/m;
    for (const args of [['--version'], ['version'], ['--version', '--verbose']]) {
      const { status, stdout } = await runCli(args);
      expect(status).toBe(0);
      expect(stdout.toString()).toMatch(line);
    }
    const { stdout } = await runCli(['--version', '--verbose']);
    for (const name of ['snappy', 'zlib', 'lz4', 'zstd', 'crc32c', 'xxh3']) {
      expect(stdout.toString()).toMatch(new RegExp(`^ +${name} +\\S`, 'm'));
    }
  });

  it.each([[[]], [['--help']], [['-h']], [['help']]])('helps: %j', async (args) => {
    const { status, stdout } = await runCli(args);
    expect(status).toBe(0);
    expect(stdout.toString()).toContain('USAGE\n  $ sstkit');
  });

  it('helps with one command', async () => {
    const asked = await runCli(['help', 'version']);
    expect(asked.stdout.toString()).toContain('$ sstkit version');
    expect(await runCli(['version', '--help'])).toEqual(asked);
  });

  it.each([
    [['versoin'], '"versoin" is neither a command nor a file'],
    [['--frob'], 'a command or a FILE comes first, not --frob'],
    [['help', 'frob'], '"frob" is no command'],
    [['version', '--frob'], 'unknown flag --frob'],
    [['version', '--verbos'], 'did you mean --verbose?'],
    [['version', '--format'], '--format expects a value'],
    [['version', '--format', 'xml'], 'Expected --format=xml to be one of: text, json'],
    [['version', 'surplus'], 'Unexpected argument: surplus'],
    [['version', '--quiet=perhaps'], '--quiet is a switch'],
  ])('%j is wrong usage', async (args, message) => {
    const { status, stdout, stderr } = await runCli(args);
    expect(stderr).toContain(message);
    expect(stdout.toString()).toBe('');
    expect(stderr).not.toMatch(/^ {4}at /m);
    expect(status).toBe(2);
  });

  it('tells an error as JSON', async () => {
    const { status, stdout, stderr } = await runCli(['version', '--json', '--frob']);
    expect(status).toBe(2);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout.toString())).toEqual({
      schema: 1,
      error: { code: 'invalid_argument', message: 'unknown flag --frob' },
    });
  });

  it('shows a stack only when asked', async () => {
    const { stderr } = await runCli(['version', '--frob'], { env: { DEBUG: '1' } });
    expect(stderr).toMatch(/^ {4}at /m);
  });
});
