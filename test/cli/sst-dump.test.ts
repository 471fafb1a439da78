import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memorySource } from '../../src/bytes/source.ts';
import { sixDecimals } from '../../src/compat/sst-dump/properties-text.ts';
import { runSstDump, type SstDumpEnvironment } from '../../src/compat/sst-dump/run.ts';
import { withPending } from '../../src/errors.ts';
import { BlockIterator } from '../../src/format/block/block-iterator.ts';
import { listDataBlocks } from '../../src/format/index/data-blocks.ts';
import { openTable, type TableReader } from '../../src/format/table-reader.ts';
import { NodeEncoderRegistry } from '../../src/node/encoders.ts';
import { openNodeEnvironment } from '../../src/node/environment.ts';
import { MemorySink } from '../../src/render/sink.ts';
import { runCli } from '../support/cli.ts';
import { fixture, fixtures, sharedFixtures } from '../support/fixtures.ts';
import { append, flipBit, overwrite, truncate, zeroRange } from '../support/patch.ts';

interface Outcome {
  status: number;
  /** One character a byte. */
  stdout: string;
  stderr: string;
}

let environment: SstDumpEnvironment;
let folder: string;

beforeAll(async () => {
  const node = await openNodeEnvironment();
  environment = { ...node, encoders: new NodeEncoderRegistry(node.hashes) };
  folder = mkdtempSync(path.join(tmpdir(), 'sstkit-sst-dump-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function sstDump(...argv: string[]): Promise<Outcome> {
  const stdout = new MemorySink();
  let stderr = '';
  const status = await runSstDump(argv, {
    stdout,
    complain: (text) => {
      stderr += `${text}\n`;
    },
    openEnvironment: async () => environment,
    onInterrupt: () => () => undefined,
    version: '0.0.0',
  });
  return { status, stdout: Buffer.from(stdout.toBytes()).toString('latin1'), stderr };
}

async function inFolder<T>(directory: string, step: () => Promise<T>): Promise<T> {
  const before = process.cwd();
  process.chdir(directory);
  try {
    return await step();
  } finally {
    process.chdir(before);
  }
}

function written(name: string, bytes: Uint8Array): string {
  const file = path.join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

const rawFile = (name: string): string => path.join(folder, name);

describe('the texts of the real tool', () => {
  const shared = sharedFixtures();
  const texts = shared.tables.flatMap(({ name, scanText, rawText, propertiesText }) => [
    ...(scanText === undefined ? [] : [{ name, kind: 'scan', text: scanText }]),
    ...(rawText === undefined ? [] : [{ name, kind: 'raw', text: rawText }]),
    ...(propertiesText === undefined ? [] : [{ name, kind: 'properties', text: propertiesText }]),
  ]);

  it.skipIf(!shared.present)('are there to be compared with', () =>
    expect(texts.length).toBeGreaterThan(400),
  );

  it.each(texts)('$kind of $name', async ({ name, kind, text }) => {
    // The files of the old format versions were dumped by release 7.8.3.
    const old = name.startsWith('old_') ? ['--compat=7.8'] : [];
    const flags: Record<string, string[]> = {
      scan: ['--command=scan', '--output_hex'],
      raw: ['--command=raw', `--output_dir=${folder}`, '--show_sequence_number_type'],
      properties: ['--command=identify', '--show_properties', '--list_meta_blocks'],
    };
    if (kind === 'raw' && old.length > 0) flags.raw!.pop();
    const { status, stdout, stderr } = await inFolder(path.join(shared.root, 'db'), () =>
      sstDump(`--file=${name}`, ...flags[kind]!, ...old),
    );
    const wanted = text();
    if (kind === 'raw' && wanted === '') {
      expect({ status, stderr }).toEqual({
        status: 4,
        stderr: `${name}: Not implemented: DumpTable() not supported\n`,
      });
      return;
    }
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    let got = stdout;
    if (kind === 'raw') {
      const dump = rawFile(`${path.basename(name, '.sst')}_dump.txt`);
      got = readFileSync(dump, 'latin1');
      expect(stdout).toContain(`raw dump written to file ${dump}\n`);
    } else {
      expect(got).toMatch(/^options\.env is 0x0\n/);
      got = got.slice(got.indexOf('\n') + 1);
    }
    // Not `toBe` on the whole: the difference of two long texts takes minutes to print.
    const lines = wanted.split('\n');
    const at = got.split('\n').findIndex((line, i) => line !== lines[i]);
    expect(got === wanted ? 'equal' : { at, line: got.split('\n')[at], wanted: lines[at] }).toBe('equal');
  });
});

describe('every table of the fixtures', () => {
  const whole = fixtures().filter(({ format, expected }) => format !== 'cuckoo' && expected !== undefined);

  it.each(whole)('$name: check, scan, verify and raw', async ({ path: file, format, expected }) => {
    const { entries } = expected!();
    for (const compat of ['--compat=7.8', '--compat=11']) {
      const check = await sstDump(file, compat);
      expect(check).toMatchObject({ status: 0, stderr: '' });
      const scan = await sstDump(file, compat, '--command=scan', '--output_hex');
      expect(scan).toMatchObject({ status: 0, stderr: '' });
      const rows = scan.stdout.split('\n').filter((line) => line.startsWith("'"));
      expect(rows.length).toBe(entries.length);
      for (const command of ['verify', 'raw']) {
        const { status, stderr } = await sstDump(
          file,
          compat,
          `--command=${command}`,
          `--output_dir=${folder}`,
        );
        if (format === 'plain') expect([status, stderr.includes('not supported')]).toEqual([4, true]);
        else expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      }
    }
  });

  it('cuckoo tables are identified, and their rows are not read', async () => {
    const file = fixture('cuckoo/cuckoo.sst').path;
    const identify = await sstDump(file, '--command=identify', '--show_properties', '--list_meta_blocks');
    expect(identify).toMatchObject({ status: 0, stderr: '' });
    expect(identify.stdout).toContain('Sst file format: cuckoo table\n');
    expect(identify.stdout).toContain('rocksdb.properties: ');
    expect(await sstDump(file, '--command=scan')).toMatchObject({
      status: 4,
      stderr: `${file}: Not implemented: rows of cuckoo tables are not read here\n`,
    });
  });

  it('an unknown comparator is no reason to stop, and a given one orders', async () => {
    const { path: file, expected } = fixture('content/unknown-comparator.sst');
    const { stdout } = await sstDump(file, '--command=scan', '--output_hex');
    const keys = [...stdout.matchAll(/^'([0-9A-F]*)'/gm)].map(([, key]) => key!.toLowerCase());
    expect(keys).toEqual(expected!().entries.map(({ key }) => key));
    const prefix = `--prefix=0x${keys[3]!}`;
    expect((await sstDump(file, '--command=scan', '--input_key_hex', prefix)).stdout).toMatch(/^'/m);
    await expect(sstDump(file, '--command=scan', '--from=a')).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    expect(await sstDump(file, '--from=a', '--comparator=reverse')).toMatchObject({ status: 0 });
  });
});

describe('damage', () => {
  const healthy = fixture('version/fv5-crc32c.sst');
  const modern = fixture('modern/fv6-range-tombstones.sst');

  async function opened(bytes: Uint8Array): Promise<TableReader> {
    return withPending(() => openTable(memorySource(bytes), environment));
  }

  it('in a data block: the rest is printed, the loss is named, the status is 1', async () => {
    for (const { name, bytes } of [healthy, modern]) {
      const table = await opened(bytes());
      const blocks = await listDataBlocks(table);
      const offset = blocks.offsets[2]!;
      const file = written('data.sst', flipBit(bytes(), offset + 9));
      const whole = await sstDump(written('whole.sst', bytes()), '--command=scan', '--output_hex');
      const { status, stdout, stderr } = await sstDump(file, '--command=scan', '--output_hex');
      expect(status, name).toBe(1);
      const removed = name.startsWith('modern') ? '(context removed)' : '';
      expect(stderr).toMatch(
        new RegExp(
          `^${file}: Corruption: block checksum mismatch: stored${removed.replace(/[()]/g, '\\$&')} = \\d+, ` +
            `computed = \\d+, type = ${table.footer.checksumType}  in ${file} offset ${offset} size ` +
            `${blocks.sizes[2]}, block_type = Data\n${file}: entries between '[0-9A-F]+' and '[0-9A-F]+' are lost\n$`,
        ),
      );
      const lines = new Set(whole.stdout.split('\n'));
      const rows = stdout.split('\n').filter((line) => line.startsWith("'"));
      expect(rows.every((row) => lines.has(row))).toBe(true);
      expect(rows.length).toBeGreaterThan(0);
      expect(rows.length).toBeLessThan(lines.size - 5);

      for (const command of ['check', 'verify', 'raw']) {
        const outcome = await sstDump(file, `--command=${command}`, `--output_dir=${folder}`);
        expect(outcome.status, command).toBe(1);
        expect(outcome.stderr).toContain(`offset ${offset} size`);
        expect(outcome.stdout).not.toContain('The file is ok');
      }
      const dump = readFileSync(rawFile('data_dump.txt'), 'latin1');
      expect(dump).toContain('--\nError reading the block - Skipped \n\nData Block # 4 @ ');
    }
  });

  it('release 7.8 names no block type', async () => {
    const { bytes } = healthy;
    const file = written('old.sst', flipBit(bytes(), 20));
    const { stderr } = await sstDump(file, '--compat=7.8', '--command=verify');
    expect(stderr).toMatch(
      /^\S+ is corrupted: Corruption: block checksum mismatch: stored = \d+, .* size \d+\n$/,
    );
  });

  it.each([
    'rocksdb.range_del',
    'rocksdb.properties',
    'fullfilter.rocksdb.BuiltinBloomFilter',
    'metaindex',
    'index',
  ])('in %s shows in verify', async (name) => {
    const tables = [modern, fixture('modern/fv6-none-bloom.sst'), healthy];
    let tried = 0;
    for (const { bytes, name: file } of tables) {
      const table = await opened(bytes());
      const handle =
        name === 'metaindex'
          ? table.footer.metaindex
          : name === 'index'
            ? table.index
              ? table.index.handle
              : undefined
            : table.metaBlock(name);
      if (handle === undefined) continue;
      tried++;
      const { status, stderr } = await sstDump(
        written('meta.sst', flipBit(bytes(), handle.offset + 1)),
        '--command=verify',
      );
      expect(status, file).toBe(1);
      expect(stderr, file).toMatch(/Corruption: block checksum mismatch/);
    }
    expect(tried).toBeGreaterThan(0);
  });

  it('in a filter partition is found, which the real tool passes', async () => {
    const { bytes } = fixture('filter/partitioned.sst');
    // Filter partitions come right behind the data blocks.
    const blocks = await listDataBlocks(await opened(bytes()));
    const end = blocks.offsets[blocks.count - 1]! + blocks.sizes[blocks.count - 1]! + 5;
    const { status, stderr } = await sstDump(
      written('partition.sst', flipBit(bytes(), end + 3)),
      '--command=verify',
    );
    expect({ status, filter: /block_type = Filter/.test(stderr) }).toEqual({ status: 1, filter: true });
  });

  it('in the range tombstones is reported by scan and check', async () => {
    const { bytes } = modern;
    const handle = (await opened(bytes())).metaBlock('rocksdb.range_del')!;
    const file = written('tombstones.sst', flipBit(bytes(), handle.offset + 2));
    for (const command of ['scan', 'check']) {
      const { status, stderr } = await sstDump(file, `--command=${command}`);
      expect(status).toBe(1);
      expect(stderr).toContain('block_type = RangeDeletion');
    }
  });

  it('a wrong number of entries is a mismatch', async () => {
    const { bytes } = fixture('version/fv5-none.sst');
    const handle = (await opened(bytes())).metaBlock('rocksdb.properties')!;
    const block = new BlockIterator();
    block.reset(bytes().subarray(handle.offset, handle.offset + handle.size));
    const name = () => Buffer.from(block.key.subarray(0, block.keyLength)).toString();
    while (block.next() && name() !== 'rocksdb.num.entries');
    const at = handle.offset + block.valueStart;
    const file = written('count.sst', overwrite(bytes(), at, Uint8Array.of(bytes()[at]! ^ 1)));
    const { status, stderr } = await sstDump(file);
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /Table property expects \d+ entries when excluding range deletions, but scanning the table returned \d+ entries/,
    );
  });

  it('a lost footer does not hide the rows', async () => {
    const { bytes, expected } = healthy;
    const file = written('cut.sst', truncate(bytes(), -20));
    const { status, stdout, stderr } = await sstDump(file, '--command=scan', '--output_hex');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^\S+: Corruption: /);
    expect(stdout.split('\n').filter((line) => line.startsWith("'")).length).toBe(expected!().entries.length);
    const { stdout: identified } = await sstDump(file, '--command=identify');
    expect(identified).not.toContain('is a valid SST file');
  });

  it.each([
    ['appended bytes', (bytes: Uint8Array) => append(bytes, new Uint8Array(100)), 1],
    ['zeros', (bytes: Uint8Array) => zeroRange(bytes, 0, bytes.length), 3],
    ['nothing', () => new Uint8Array(0), 3],
    ['a text', () => Buffer.from('not a table, but words and words and words\n'.repeat(9)), 3],
    ['twenty bytes', (bytes: Uint8Array) => truncate(bytes, 20), 3],
  ])('%s', async (name, damage, wanted) => {
    const file = written(`${name.replaceAll(' ', '-')}.sst`, damage(healthy.bytes()));
    const { status, stderr } = await sstDump(file);
    expect({ status, wanted }).toEqual({ status: wanted, wanted });
    expect(stderr).toContain(`${file} is not a valid SST file\n`);
    if (name === 'nothing') expect(stderr).toContain(`${file}: Operation aborted: ${file}: Empty file\n`);
  });

  it('one bad file does not hide a good one', async () => {
    const bad = written('bad.sst', new Uint8Array(100));
    const { status, stdout } = await sstDump(bad, healthy.path, '--command=identify');
    expect(status).toBe(3);
    expect(stdout).toContain(`List of valid SST files:\n${healthy.path}\nNumber of valid SST files: 1\n`);
  });
});

describe('files and directories', () => {
  it('a missing one', async () => {
    expect(await sstDump('--file=/no/such/place')).toEqual({
      status: 3,
      stdout: 'options.env is 0x0\n',
      stderr: 'NotFound: /no/such/place: No such file or directory\n',
    });
  });

  it('a directory: its tables in sorted order', async () => {
    const directory = path.dirname(fixture('version/fv5-crc32c.sst').path);
    const { status, stdout } = await sstDump(`${directory}`, '--command=identify', '--show_summary');
    const names = readdirSync(directory)
      .filter((name) => name.endsWith('.sst'))
      .sort();
    expect(status).toBe(0);
    expect([...stdout.matchAll(/^Process .*\/(.*)$/gm)].map(([, name]) => name)).toEqual(names);
    expect(stdout).toContain(`List of valid SST files found in ${directory}:\n${directory}/${names[0]}\n`);
    expect(stdout).toContain(`total number of files: ${names.length}\n`);
    expect(stdout).toMatch(new RegExp(`Number of valid SST files: ${names.length}\n$`));
  });

  it('a directory without tables', async () => {
    const empty = mkdtempSync(path.join(folder, 'empty-'));
    expect(await sstDump(empty)).toMatchObject({ status: 3, stderr: `${empty} is not a valid SST file\n` });
    writeFileSync(path.join(empty, 'notes'), '');
    expect(await sstDump(empty)).toMatchObject({
      status: 3,
      stdout: `options.env is 0x0\n${'-'.repeat(30)}\n`,
      stderr: `No valid SST files found in ${empty}\n`,
    });
  });

  it('two raw dumps of one name', async () => {
    const { path: file } = fixture('version/fv5-crc32c.sst');
    const { stdout } = await sstDump(file, file, '--command=raw', `--output_dir=${folder}/`);
    expect(stdout.match(/written to file .*/g)).toEqual([
      `written to file ${folder}/fv5-crc32c_dump.txt`,
      `written to file ${folder}/fv5-crc32c_dump_2.txt`,
    ]);
    expect(readFileSync(rawFile('fv5-crc32c_dump.txt'))).toEqual(
      readFileSync(rawFile('fv5-crc32c_dump_2.txt')),
    );
  });

  it('an output that cannot be written', async () => {
    const { status, stderr } = await sstDump(
      fixture('version/fv5-crc32c.sst').path,
      '--command=raw',
      '--output_dir=/no/such/place',
    );
    expect(status).toBe(3);
    expect(stderr).toContain('/no/such/place/fv5-crc32c_dump.txt');
  });

  it('--read_num counts over all files', async () => {
    const { path: file, expected } = fixture('version/fv5-crc32c.sst');
    const count = expected!().entries.length;
    const rows = async (...argv: string[]) =>
      (await sstDump(file, file, '--command=scan', ...argv)).stdout.match(/^'/gm)?.length ?? 0;
    expect(await rows(`--read_num=${count + 3}`)).toBe(count + 3);
    expect(await rows('--read_num=2')).toBe(2);
    expect(await rows('--read_num=0')).toBe(2 * count);
    expect(await rows(`--read_num=${count}`)).toBe(count);
  });

  it('property patterns choose files', async () => {
    const crc = fixture('version/fv5-crc32c.sst').path;
    const zlib = fixture('compression/zlib-fv5.sst').path;
    const kept = async (flag: string) =>
      (await sstDump(crc, zlib, '--command=identify', flag)).stdout.split('List of')[1] ?? '';
    expect(await kept('--require_property_regex=algo: Z[[:alpha:]]+')).toMatch(/zlib-fv5/);
    expect(await kept('--require_property_regex=algo: Z[[:alpha:]]+')).not.toMatch(/fv5-crc32c/);
    expect(await kept('--exclude_property_regex=algo: Zlib')).not.toMatch(/zlib-fv5/);
  });
});

describe('the command line', () => {
  const file = fixture('version/fv5-crc32c.sst').path;

  it.each([
    [['--bogus'], "Unrecognized argument '--bogus'\n\n"],
    [['-x'], "Unrecognized argument '-x'\n\n"],
    [['--read_num=3x'], "Unrecognized argument '--read_num=3x'\n\n"],
    [['--output_hex=perhaps'], "Unrecognized argument '--output_hex=perhaps'\n\n"],
    [['--command'], "Unrecognized argument '--command'\n\n"],
    [['--command=check'], 'file or directory must be specified.\n\n'],
    [
      ['a.sst', '--command=foo'],
      "unknown command 'foo': --command takes check, scan, raw, verify, recompress, identify\n",
    ],
    [['--set_block_size=x'], 'block size must be numeric\n'],
    [
      ['--compression_max_dict_bytes=-1'],
      "compression_max_dict_bytes must be a uint32_t: '--compression_max_dict_bytes=-1'\n",
    ],
    [['--compression_types=kFoo'], 'kFoo is not a valid CompressionType\n'],
    [
      ['--compression_level_from=1', 'a'],
      'Specify both --compression_level_from and --compression_level_to.\n\n',
    ],
    [['--from=a', '--prefix=b', 'a'], 'Cannot specify --prefix and --from\n\n'],
    [['--from=q', '--input_key_hex', 'a'], 'Invalid hex input q.  Must start with 0x\n'],
    [['--compat=9', 'a'], "--compat takes 7.8 or 11, not '9'\n"],
    [['--require_property_regex=(', 'a'], "'(' is not a regular expression\n"],
  ])('%j is wrong usage', async (argv, message) => {
    const { status, stdout, stderr } = await sstDump(...argv);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr.startsWith(message) ? message : stderr).toBe(message);
  });

  it.each([
    ['0x6162630105000000000000', 0, "key='616263' seq:5, type:1\n", ''],
    [
      '0x616263ff05000000000000',
      2,
      "key='616263' seq:5, type:255\n",
      "Corrupted Key: '616263' seq:5, type:255\n",
    ],
    [
      '0x6162',
      2,
      "key='' seq:72057594037927935, type:0\n",
      'Corrupted Key: Internal Key too small. Size=2. \n',
    ],
    [
      'zz',
      2,
      '',
      "Invalid hex input zz.  Must start with 0x\nERROR: Invalid key input 'zz' Use 0x{hex representation of internal rocksdb key}\n",
    ],
  ])('--parse_internal_key=%s', async (key, status, stdout, stderr) => {
    expect(await sstDump(`--parse_internal_key=${key}`, '--bogus')).toEqual({ status, stdout, stderr });
  });

  it('words behind -- are paths, switches take values, hyphens are underscores', async () => {
    expect((await sstDump('--command=identify', '--', file)).stdout).toContain(
      `${file} is a valid SST file\n`,
    );
    expect((await sstDump('--', '--bogus')).stderr).toBe('NotFound: --bogus: No such file or directory\n');
    const hex = await sstDump(file, '--command=scan', '--output-hex=true', '--read-num=1');
    const plain = await sstDump(file, '--command=scan', '--output_hex', '--no-output_hex', '--read_num=1');
    expect(hex.stdout).toMatch(/^'[0-9A-F]+' seq:\d+, type:1 => [0-9A-F]+$/m);
    expect(plain.stdout).not.toBe(hex.stdout);
  });

  it('ranges', async () => {
    const { entries } = fixture('version/fv5-crc32c.sst').expected!();
    const keys = [...new Set(entries.map(({ key }) => key))];
    const [from, to] = [keys[10]!, keys[20]!];
    const flags = ['--command=scan', '--output_hex', '--input_key_hex', `--from=0x${from}`, `--to=0x${to}`];
    const { stdout } = await sstDump(file, ...flags);
    expect(stdout).toContain(`from [${from.toUpperCase()}] to [${to.toUpperCase()}]\n`);
    const found = [...stdout.matchAll(/^'([0-9A-F]+)'/gm)].map(([, key]) => key!.toLowerCase());
    expect(found).toEqual(entries.map(({ key }) => key).filter((key) => key >= from && key < to));
  });

  it('help, version, and what is not supported', async () => {
    expect((await sstDump('--help')).stdout).toContain('--show_sequence_number_type');
    expect((await sstDump('--version')).stdout).toBe(
      'sst_dump (RocksDB) 11.9.0\n    sstkit_version: 0.0.0\n',
    );
    expect((await sstDump('--compat=7.8', '--version')).stdout).toMatch(/^sst_dump \(RocksDB\) 7\.8\.3\n/);
    expect(await sstDump(file, '--fs_uri=s3://bucket')).toMatchObject({ status: 4 });
  });

  it('recompress: a line a codec and level, in the form of 11.9', async () => {
    const { status, stdout, stderr } = await sstDump(
      file,
      '--command=recompress',
      '--compression_types=kNoCompression,kZSTD,kBZip2Compression',
      '--compression_level_from=1',
      '--compression_level_to=2',
      '--block_size=1024',
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const lines = stdout.split('\n').slice(3);
    const result =
      /^Cx level: \d+ Cx size: [\d ]{10} Uncx size: [\d ]{10} Ratio: +\d+\.\d{6} Write usec: [\d ]{10} {2}Read usec: [\d ]{10} {2}Cx count: [\d ]{6} \([\d ]{3}\.\d%\) Not cx for ratio: [\d ]{6} \([\d ]{3}\.\d%\) Not cx otherwise: [\d ]{6} \([\d ]{3}\.\d%\)$/;
    expect(lines.map((line) => (result.test(line) ? 'result' : line))).toEqual([
      'Compression: kNoCompression           Block Size: 1024  Threads: 1',
      'result',
      'result',
      'Compression: kZSTD                    Block Size: 1024  Threads: 1',
      'result',
      'result',
      'Unsupported compression type: kBZip2Compression.',
      '',
    ]);
    expect(lines[1]).toContain('Cx level: 1 ');
    expect(lines[1]).toMatch(/Cx count: {6}0 \( {2}0\.0%\) Not cx for ratio: +\d+ \(100\.0%\)/);
    const sizes = [1, 4].map((at) => Number(/Cx size: +(\d+)/.exec(lines[at]!)![1]));
    expect(sizes[1]).toBeLessThan(sizes[0]!);
    const all = (await sstDump(file, '--command=recompress')).stdout;
    expect(all).toContain(
      'Compression: kLZ4Compression          Block Size: 16384  Threads: 1\nCx level: 32767 ',
    );
    expect(all).not.toContain('Unsupported');
  });

  it('as a program: raw goes into the working directory', async () => {
    const cwd = mkdtempSync(path.join(folder, 'cwd-'));
    const { status, stdout, stderr } = await runCli(['sst_dump', `--file=${file}`, '--command=raw'], { cwd });
    expect({ status, stderr, files: readdirSync(cwd) }).toEqual({
      status: 0,
      stderr: '',
      files: ['fv5-crc32c_dump.txt'],
    });
    expect(stdout.toString()).toBe(
      `options.env is 0x0\nProcess ${file}\nSst file format: block-based\n` +
        'raw dump written to file fv5-crc32c_dump.txt\n',
    );
    expect((await runCli(['sst_dump', '--help'], { cwd })).stdout.toString()).toContain(
      '--parse_internal_key',
    );
  });

  it('plain rows keep bytes that the real tool cuts at a zero', async () => {
    const { path: binary, expected } = fixture('content/binary-keys.sst');
    const { stdout } = await sstDump(binary, '--command=scan');
    for (const { key, seqno, value } of expected!().entries) {
      const bytes = (hex: string) => Buffer.from(hex, 'hex').toString('latin1');
      expect(stdout).toContain(`'${bytes(key)}' seq:${seqno}, type:`);
      expect(stdout).toContain(` => ${bytes(value)}\n`);
    }
  });
});

describe('values with a structure', () => {
  it('blob references in words', async () => {
    const { path: file } = fixture('db/blob/000009.sst');
    const raw = await sstDump(file, '--command=scan', '--output_hex');
    const words = await sstDump(file, '--command=scan', '--output_hex', '--decode_blob_index');
    expect(raw.stdout).toMatch(/, type:17 => 01[0-9A-F]+$/m);
    expect(words.stdout).toMatch(
      /, type:17 => \[blob ref\] file:10 offset:\d+ size:\d+ compression: NoCompression$/m,
    );
  });

  it('entities: columns in release 11, bytes in 7.8', async () => {
    const { path: file } = fixture('content/entities.sst');
    const columns = await sstDump(file, '--command=scan');
    const bytes = await sstDump(file, '--command=scan', '--output_hex', '--compat=7.8');
    expect(columns.stdout).toMatch(/, type:22 => \S*:\S+/m);
    expect(bytes.stdout).toMatch(/, type:22 => 01[0-9A-F]+$/m);
  });
});

it('averages round like printf', () => {
  expect(sixDecimals(17 / 128)).toBe('0.132812');
  expect(sixDecimals(19 / 128)).toBe('0.148438');
  expect(sixDecimals(28)).toBe('28.000000');
  expect(sixDecimals(1 / 3)).toBe('0.333333');
});
