#!/usr/bin/env node
import { readFileSync } from 'node:fs';

const argv = process.argv.slice(2);
if (argv.length === 1 && argv[0] === '--version') {
  // Without loading anything: this costs little more than node itself.
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  console.log(`sstkit/${version} ${process.platform}-${process.arch} node-${process.version}`);
} else if (argv[0] === 'sst_dump') {
  const { main } = await import('../dist/sst_dump.js');
  await main(argv.slice(1));
} else {
  // The same file that package.json#oclif names, so that it is loaded once.
  const { main } = await import('../dist/cli.js');
  await main(argv);
}
