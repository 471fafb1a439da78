import type { ByteSource } from '../../bytes/source.ts';
import { CorruptionError, UnsupportedError } from '../../errors.ts';
import type { HashFunctions } from '../../hash/registry.ts';
import type { LogFault } from '../log/log-reader.ts';
import { type LogEnd, LogReader } from '../log/log-reader.ts';
import { decodeVersionEdit } from './decode-version-edit.ts';
import { ManifestState } from './manifest-state.ts';
import type { VersionEdit } from './version-edit.ts';

export interface ManifestEvents {
  /** An edit that was decoded, before it is applied. `size`: of its record, headers included. */
  edit?(edit: VersionEdit, record: { readonly offset: number; readonly size: number }): void;
  /**
   * What is wrong, with file and, but for the file as a whole, the offset of the record: `log_record_damaged`,
   * `log_orphan_fragment`, `manifest_edit`, `manifest_repeated_delete`, `manifest_incomplete`, or UnsupportedError.
   */
  fault(error: LogFault): void;
}

export interface ReadManifest {
  readonly state: ManifestState;
  readonly end: LogEnd;
  /** Records that could not be read or decoded: the state lacks what they said. */
  readonly lostCount: number;
}

/**
 * Reads a MANIFEST: a log with legacy headers, each of whose records is one version edit, and applies the edits.
 * Goes on behind faults. Memory: one record, and the live files. Throws what the source throws.
 */
export function readManifest(
  source: ByteSource,
  hashes: HashFunctions,
  events: ManifestEvents,
): ReadManifest {
  let lostCount = 0;
  const lose = (error: LogFault): void => {
    lostCount++;
    events.fault(error);
  };
  const place = { file: source.name };
  const state = new ManifestState((error) => events.fault(error.at(place)));
  const reader = new LogReader(source, hashes, lose);
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    const { offset, size, payload, kind } = record;
    if (kind !== 'data') {
      lose(
        new CorruptionError('log_record_damaged', `a record of type ${kind}, which no MANIFEST has`, {
          ...place,
          offset,
        }),
      );
      continue;
    }
    let edit: VersionEdit;
    try {
      edit = decodeVersionEdit(payload);
    } catch (error) {
      if (!(error instanceof CorruptionError || error instanceof UnsupportedError)) throw error;
      lose(error.at({ ...place, offset }));
      continue;
    }
    events.edit?.(edit, { offset, size });
    state.apply(edit, offset);
  }
  const end = reader.end!;
  if (end.state === 'incomplete_tail' || end.state === 'recycled_tail') {
    const reason =
      end.state === 'incomplete_tail'
        ? `the record is cut off by the end of the file at ${source.size}: readers leave it out`
        : 'the file goes on with records of a log that was recycled, which no MANIFEST is';
    events.fault(new CorruptionError('manifest_incomplete', reason, { ...place, offset: end.offset }));
  }
  state.finish();
  return { state, end, lostCount };
}
