import { expect } from 'vitest';
import { memorySource } from '../../src/bytes/source.ts';
import type { OutputTarget } from '../../src/engine/compaction/compaction-outputs.ts';
import { IoError } from '../../src/errors.ts';
import { MemorySink } from '../../src/format/table-builder/table-sink.ts';
import type { CompactRequest } from '../../src/tools/compact.ts';
import { scanRows } from '../support/scan.ts';
import { environment, PLAIN_REQUEST } from './compact-here.ts';
import { type Version, versionOf } from './history.ts';

/** Files in memory, outputs among them. */
export class MemoryFiles {
  readonly contents = new Map<string, Uint8Array>();
  readonly environment = {
    ...environment,
    files: {
      open: (path: string) => ({ ...memorySource(this.at(path), path), close: () => undefined }),
      list: () => [],
      status: (path: string) => ({ kind: 'file' as const, size: this.at(path).length, modifiedMicros: 0 }),
    },
  };

  at(path: string): Uint8Array {
    const bytes = this.contents.get(path);
    if (bytes === undefined) throw new IoError('not_found', path, 'no such file');
    return bytes;
  }

  openOutput = (number: number): OutputTarget => {
    const path = `out-${number}.sst`;
    const sink = new MemorySink();
    return {
      path,
      sink,
      finish: () => undefined,
      commit: () => void this.contents.set(path, sink.contents().slice()),
      discard: () => undefined,
    };
  };

  async versions(paths: readonly string[]): Promise<Version[]> {
    if (paths.length === 0) return [];
    const { rows, damaged } = await scanRows(paths, {}, this.environment);
    expect(damaged).toBe(false);
    return rows.map(versionOf);
  }
}

export function request(paths: readonly string[], rest: Partial<CompactRequest>): CompactRequest {
  return { ...PLAIN_REQUEST, mergeOperator: { status: 'none' }, paths, ...rest };
}
