import type { ExitStatus } from '../../exit-status.ts';
import type { ProcessHost } from '../../process-host.ts';
import { runSstDump } from './run.ts';

/** sst_dump in this process: words as typed behind its name. `version` is that of this package. */
export function sstDump(argv: readonly string[], host: ProcessHost, version: string): Promise<ExitStatus> {
  return runSstDump(argv, {
    stdout: host.stdout,
    complain: (text) => host.complain(text),
    onInterrupt: (cleanup) => host.onInterrupt(cleanup),
    version,
    async openEnvironment() {
      const { openNodeEnvironment } = await import('../../node/environment.ts');
      const { NodeEncoderRegistry } = await import('../../node/encoders.ts');
      const environment = await openNodeEnvironment();
      return { ...environment, encoders: new NodeEncoderRegistry(environment.hashes) };
    },
  });
}
