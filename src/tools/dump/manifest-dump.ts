import type { ByteSource } from '../../bytes/source.ts';
import type { Environment } from '../../engine/environment.ts';
import { seqnoText, TRAILER_SIZE, trailerType } from '../../format/internal-key.ts';
import type { LogEnd } from '../../format/log/log-reader.ts';
import { readManifest } from '../../format/manifest/manifest-reader.ts';
import {
  type LevelFiles,
  levelsOf,
  type ManifestColumnFamily,
  type ManifestState,
} from '../../format/manifest/manifest-state.ts';
import type { NewFile, VersionEdit } from '../../format/manifest/version-edit.ts';
import { entryTypeName } from '../../format/value-type.ts';
import type { Comparator } from '../../operators/comparator.ts';
import type { Finding } from '../finding.ts';
import { compareInternalKeys } from '../verify/bounds-check.ts';
import { manifestFinding, orderOfBounds } from '../verify/manifest-check.ts';

/** A bound of a file, or another internal key of a MANIFEST, in its parts. */
export interface KeyView {
  readonly userKey: Uint8Array;
  /** Decimal. */
  readonly seqno: string;
  /** `put` ...; `type_<n>` where no table has such a type. */
  readonly type: string;
}

export type FileView = Omit<NewFile, 'smallest' | 'largest'> & {
  readonly smallest: KeyView;
  readonly largest: KeyView;
};

export type EditView = Omit<VersionEdit, 'newFiles' | 'compactCursors'> & {
  readonly newFiles?: readonly FileView[] | undefined;
  readonly compactCursors?: readonly { readonly level: number; readonly key: KeyView }[] | undefined;
};

/** A record of a MANIFEST that was decoded. */
export interface EditRecord {
  readonly offset: number;
  /** Bytes of the record, headers included. */
  readonly size: number;
  readonly edit: EditView;
}

export interface LiveFamily {
  readonly family: ManifestColumnFamily;
  /** Level 0 newest first; others in the order of their keys, where the comparator is known, else as they were added. */
  readonly levels: readonly { readonly level: number; readonly files: readonly FileView[] }[];
}

/** What all edits together leave. */
export interface LiveSet {
  readonly families: readonly LiveFamily[];
  readonly state: ManifestState;
  readonly end: LogEnd;
}

/** Hands each edit to `edit` and what is wrong to `finding`, in the order of the file. Throws IoErrors of the source. */
export function dumpManifest(
  environment: Pick<Environment, 'hashes'>,
  source: ByteSource,
  comparator: Comparator | undefined,
  events: { edit(record: EditRecord): void; finding(finding: Finding): void },
): LiveSet {
  const { state, end } = readManifest(source, environment.hashes, {
    edit: (edit, { offset, size }) => events.edit({ offset, size, edit: editView(edit) }),
    fault: (fault) => events.finding(manifestFinding(fault)),
  });
  const families = [...state.columnFamilies.values()].map((family) => ({
    family,
    levels: inOrder(family, comparator).map(({ level, files }) => ({ level, files: files.map(fileView) })),
  }));
  return { families, state, end };
}

function inOrder(family: ManifestColumnFamily, given: Comparator | undefined): LevelFiles[] {
  const order = orderOfBounds(family, given);
  const minLength = 8 + (order?.timestampSize ?? 0);
  return levelsOf(family).map(({ level, files }) => {
    if (order === undefined || level === 0 || files.some(({ smallest }) => smallest.length < minLength)) {
      return { level, files };
    }
    const sorted = [...files].sort((a, b) =>
      compareInternalKeys(order, a.smallest, a.smallest.length, b.smallest, b.smallest.length),
    );
    return { level, files: sorted };
  });
}

function editView({ newFiles, compactCursors, ...edit }: VersionEdit): EditView {
  return {
    ...edit,
    newFiles: newFiles?.map(fileView),
    compactCursors: compactCursors?.map(({ level, key }) => ({ level, key: keyView(key) })),
  };
}

function fileView(file: NewFile): FileView {
  return { ...file, smallest: keyView(file.smallest), largest: keyView(file.largest) };
}

function keyView(key: Uint8Array): KeyView {
  return {
    userKey: key.subarray(0, key.length - TRAILER_SIZE),
    seqno: seqnoText(key, key.length),
    type: entryTypeName(trailerType(key, key.length)),
  };
}
