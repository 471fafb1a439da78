import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { IoError } from '../errors.ts';

/** `demo:basic.sst` names a file that the package brings along, so that examples run wherever it is installed. */
const DEMO_PREFIX = 'demo:';

/** The path on this machine of a PATH as users write it. */
export function systemPath(path: string): string {
  if (!path.startsWith(DEMO_PREFIX)) return path;
  const directory = demoDirectory();
  const name = path.slice(DEMO_PREFIX.length);
  if (/^[\w.-]+$/.test(name) && existsSync(`${directory}${name}`)) return `${directory}${name}`;
  const names = readdirSync(directory).map((each) => `${DEMO_PREFIX}${each}`);
  throw new IoError('not_found', path, `there is no such demo file; there are ${names.join(', ')}`);
}

/** Beside the bundle in dist/ as well as above src/node/: the folder that holds package.json leads there. */
function demoDirectory(): string {
  for (const up of ['../', '../../']) {
    const directory = fileURLToPath(new URL(`${up}test/fixtures/demo/`, import.meta.url));
    if (existsSync(directory)) return directory;
  }
  throw new IoError('not_found', DEMO_PREFIX, 'the demo files are missing from this installation');
}
