/** What a figure has to be read with: the machine, the versions, and how busy it was. */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { realTool } from './tools.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** One fact a line. */
export function describeMachine(dataFolder) {
  const cpus = os.cpus();
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  return [
    `${new Date().toISOString().slice(0, 10)}, sstkit ${version}, commit ${commit()}`,
    `${cpus[0]?.model.trim() ?? 'unknown CPU'}, ${cpus.length} cores, ${gibibytes(os.totalmem())} GiB memory`,
    `${os.type()} ${os.release()} ${os.arch()}, Node ${process.version}`,
    `sst_dump ${rocksdbVersion() ?? 'not installed'}`,
    `data in ${dataFolder.startsWith('/dev/shm') ? 'a RAM disk' : dataFolder}`,
  ];
}

/** The load average of one minute; wall times mean little where it is near the number of cores. */
export function loadLine(when) {
  return `Load ${when}: ${os.loadavg()[0].toFixed(2)} of ${os.cpus().length} cores.`;
}

/** `7.8.3`; undefined without the tool. */
export function rocksdbVersion() {
  const tool = realTool('sst_dump');
  if (tool === undefined) return undefined;
  try {
    const text = execFileSync(tool, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    return /(\d+\.\d+\.\d+)/.exec(text)?.[1] ?? 'of unknown version';
  } catch {
    return 'of unknown version';
  }
}

function commit() {
  try {
    const git = (...args) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim();
    const changed = git('status', '--porcelain', '--', 'src', 'assembly', 'bin', 'package.json') !== '';
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? ' with changes on top' : ''}`;
  } catch {
    return 'unknown';
  }
}

function gibibytes(bytes) {
  return (bytes / 2 ** 30).toFixed(0);
}
