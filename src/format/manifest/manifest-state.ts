import { CorruptionError } from '../../errors.ts';
import type { CompactCursor, NewFile, VersionEdit } from './version-edit.ts';

/** A blob file of a column family, with what edits have said of its garbage. */
export interface LiveBlobFile {
  readonly number: number;
  readonly blobCount: number;
  /** Bytes of all records. */
  readonly blobBytes: number;
  garbageCount: number;
  garbageBytes: number;
}

/** A column family as the edits up to now leave it. */
export interface ManifestColumnFamily {
  readonly id: number;
  readonly name: string;
  comparator: string | undefined;
  logNumber: number | undefined;
  fullHistoryTsLow: Uint8Array | undefined;
  persistUserDefinedTimestamps: boolean | undefined;
  /** By number, in the order in which they were added. */
  readonly files: Map<number, NewFile>;
  readonly blobFiles: Map<number, LiveBlobFile>;
  /** Where compaction of a level goes on, by level. */
  readonly compactCursors: Map<number, CompactCursor>;
}

export interface LevelFiles {
  readonly level: number;
  readonly files: readonly NewFile[];
}

/**
 * The files of a column family by level, each level that has any: level 0 with the newest first (epoch number, then
 * largest and smallest sequence number and number, all descending), others as they were added: their order is that of
 * the keys, which needs the comparator.
 */
export function levelsOf(family: Pick<ManifestColumnFamily, 'files'>): LevelFiles[] {
  const byLevel = new Map<number, NewFile[]>();
  for (const file of family.files.values()) {
    const files = byLevel.get(file.level);
    if (files === undefined) byLevel.set(file.level, [file]);
    else files.push(file);
  }
  byLevel.get(0)?.sort(newestFirst);
  return [...byLevel].sort(([a], [b]) => a - b).map(([level, files]) => ({ level, files }));
}

function newestFirst(a: NewFile, b: NewFile): number {
  const epochs = (b.epochNumber ?? 0) - (a.epochNumber ?? 0);
  if (epochs !== 0) return epochs;
  return (
    compareBig(b.largestSeqno ?? 0n, a.largestSeqno ?? 0n) ||
    compareBig(b.smallestSeqno ?? 0n, a.smallestSeqno ?? 0n) ||
    b.number - a.number
  );
}

function compareBig(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Column family 0, which is there from the beginning. */
const DEFAULT_FAMILY = 'default';

/**
 * What a database is made of by its MANIFEST: the edits, applied in order. Edits of an atomic group are held back
 * until the last of them is there. What contradicts the state before goes to `fault`, with `offset` of the edit, and
 * is passed over: `manifest_edit`, `manifest_repeated_delete` (of a file that is gone already), `manifest_incomplete`
 * (at the end: a group that is not whole, counters that were never set).
 * Source: RocksDB db/version_edit_handler.cc, db/version_builder.cc; LevelDB db/version_set.cc.
 */
export class ManifestState {
  /** Those that are there now, by id. */
  readonly columnFamilies = new Map<number, ManifestColumnFamily>();
  dbId: string | undefined;
  nextFileNumber: number | undefined;
  lastSequence: bigint | undefined;
  previousLogNumber: number | undefined;
  minLogNumberToKeep: number | undefined;
  maxColumnFamily: number | undefined;
  lastCompactedManifestSize: number | undefined;
  /** Tracked WALs, by number; a size once it was synced and closed. */
  readonly wals = new Map<number, number | undefined>();
  /** Edits that were given, those of groups that are left out included. */
  editCount = 0;

  private readonly dropped = new Set<number>();
  private readonly deleted = new Map<number, Set<number>>();
  private hasLogNumber = false;
  private group: { edit: VersionEdit; offset: number }[] = [];
  private groupRemaining = 0;

  constructor(private readonly fault: (error: CorruptionError) => void) {
    this.addFamily(0, DEFAULT_FAMILY);
  }

  /** Takes the edit of the record at `offset`. */
  apply(edit: VersionEdit, offset: number): void {
    this.editCount++;
    const remaining = edit.atomicGroupRemaining;
    if (this.group.length > 0) {
      if (remaining === this.groupRemaining - 1) {
        this.hold(edit, offset, remaining);
        return;
      }
      const what = remaining === undefined ? 'none of a group' : `one with ${remaining} to follow`;
      this.complain(
        'manifest_edit',
        offset,
        `an atomic group wants an edit with ${this.groupRemaining - 1} to follow, this is ${what}: the ` +
          `${this.group.length} edits from ${this.group[0]!.offset} on are left out`,
      );
      this.group = [];
    }
    if (remaining === undefined) this.applyNow(edit, offset);
    else this.hold(edit, offset, remaining);
  }

  /** After the last edit. */
  finish(): void {
    const [first] = this.group;
    if (first !== undefined) {
      const reason = `an atomic group of ${this.group.length + this.groupRemaining} edits has ${this.group.length}: it is left out`;
      this.complain('manifest_incomplete', first.offset, reason);
      this.group = [];
    }
    const missing = [
      this.nextFileNumber === undefined ? 'next file number' : '',
      this.hasLogNumber ? '' : 'log number',
      this.lastSequence === undefined ? 'last sequence number' : '',
    ].filter((name) => name !== '');
    if (missing.length > 0) {
      this.complain(
        'manifest_incomplete',
        undefined,
        `no edit has a ${missing.join(', a ')}: no database opens with it`,
      );
    }
  }

  private hold(edit: VersionEdit, offset: number, remaining: number): void {
    this.group.push({ edit, offset });
    this.groupRemaining = remaining;
    if (remaining > 0) return;
    for (const each of this.group) this.applyNow(each.edit, each.offset);
    this.group = [];
  }

  private applyNow(edit: VersionEdit, offset: number): void {
    this.applyCounters(edit);
    const id = edit.columnFamily;
    if (edit.columnFamilyAdd !== undefined) {
      if (this.columnFamilies.has(id) || this.dropped.has(id)) {
        this.complain('manifest_edit', offset, `column family ${id} is added a second time`);
        if (this.dropped.has(id)) return;
      } else this.addFamily(id, edit.columnFamilyAdd);
    }
    const family = this.columnFamilies.get(id);
    if (family === undefined) {
      this.complain(
        'manifest_edit',
        offset,
        `column family ${id} ${this.dropped.has(id) ? 'was dropped' : 'was never added'}`,
      );
      return;
    }
    if (edit.columnFamilyDrop) {
      this.columnFamilies.delete(id);
      this.dropped.add(id);
      return;
    }
    this.applyToFamily(family, edit, offset);
  }

  private applyCounters(edit: VersionEdit): void {
    this.dbId = edit.dbId ?? this.dbId;
    this.nextFileNumber = edit.nextFileNumber ?? this.nextFileNumber;
    this.lastSequence = edit.lastSequence ?? this.lastSequence;
    this.previousLogNumber = edit.previousLogNumber ?? this.previousLogNumber;
    this.maxColumnFamily = edit.maxColumnFamily ?? this.maxColumnFamily;
    this.lastCompactedManifestSize = edit.lastCompactedManifestSize ?? this.lastCompactedManifestSize;
    if (edit.logNumber !== undefined) this.hasLogNumber = true;
    if (edit.minLogNumberToKeep !== undefined) {
      this.minLogNumberToKeep = Math.max(this.minLogNumberToKeep ?? 0, edit.minLogNumberToKeep);
    }
    for (const { number, syncedSize } of edit.walAdditions ?? []) this.wals.set(number, syncedSize);
    if (edit.walDeletion !== undefined) {
      for (const number of this.wals.keys()) if (number < edit.walDeletion) this.wals.delete(number);
    }
  }

  /** Blob files first, then deletions, then new files: a file that moves to another level is deleted and added. */
  private applyToFamily(family: ManifestColumnFamily, edit: VersionEdit, offset: number): void {
    if (edit.comparator !== undefined) {
      if (family.comparator !== undefined && family.comparator !== edit.comparator) {
        const reason = `comparator ${edit.comparator} of column family ${family.id}, which has ${family.comparator}`;
        this.complain('manifest_edit', offset, reason);
      } else family.comparator = edit.comparator;
    }
    family.logNumber = edit.logNumber ?? family.logNumber;
    family.fullHistoryTsLow = edit.fullHistoryTsLow ?? family.fullHistoryTsLow;
    family.persistUserDefinedTimestamps =
      edit.persistUserDefinedTimestamps ?? family.persistUserDefinedTimestamps;
    for (const cursor of edit.compactCursors ?? []) family.compactCursors.set(cursor.level, cursor);
    for (const { number, blobCount, blobBytes } of edit.blobFileAdditions ?? []) {
      if (family.blobFiles.has(number))
        this.complain('manifest_edit', offset, `blob file ${number} is added a second time`);
      else family.blobFiles.set(number, { number, blobCount, blobBytes, garbageCount: 0, garbageBytes: 0 });
    }
    for (const { number, garbageCount, garbageBytes } of edit.blobFileGarbage ?? []) {
      const blobFile = family.blobFiles.get(number);
      if (blobFile === undefined) {
        this.complain('manifest_edit', offset, `garbage in blob file ${number}, which was not added`);
        continue;
      }
      blobFile.garbageCount += garbageCount;
      blobFile.garbageBytes += garbageBytes;
      if (blobFile.garbageCount > blobFile.blobCount || blobFile.garbageBytes > blobFile.blobBytes) {
        this.complain('manifest_edit', offset, `blob file ${number} has more garbage than blobs`);
      }
    }
    for (const { level, number } of edit.deletedFiles ?? []) this.deleteFile(family, level, number, offset);
    for (const file of edit.newFiles ?? []) this.addFile(family, file, offset);
  }

  private deleteFile(family: ManifestColumnFamily, level: number, number: number, offset: number): void {
    const file = family.files.get(number);
    const deleted = this.deletedOf(family.id);
    if (file === undefined) {
      if (deleted.has(number)) {
        this.complain(
          'manifest_repeated_delete',
          offset,
          `file ${number} of level ${level} is deleted a second time`,
        );
      } else {
        this.complain(
          'manifest_edit',
          offset,
          `file ${number} of level ${level} is deleted, and was not added`,
        );
      }
      return;
    }
    if (file.level !== level) {
      const reason = `file ${number} is deleted from level ${level}, and is in level ${file.level}`;
      this.complain('manifest_edit', offset, reason);
      return;
    }
    family.files.delete(number);
    deleted.add(number);
  }

  private addFile(family: ManifestColumnFamily, file: NewFile, offset: number): void {
    const { number, level } = file;
    const known = family.files.get(number);
    if (known !== undefined) {
      const reason = `file ${number} is added to level ${level}, and is in level ${known.level}`;
      this.complain('manifest_edit', offset, reason);
      return;
    }
    family.files.set(number, file);
    if (file.minLogNumberToKeep !== undefined) {
      this.minLogNumberToKeep = Math.max(this.minLogNumberToKeep ?? 0, file.minLogNumberToKeep);
    }
  }

  private deletedOf(id: number): Set<number> {
    let numbers = this.deleted.get(id);
    if (numbers === undefined) {
      numbers = new Set();
      this.deleted.set(id, numbers);
    }
    return numbers;
  }

  private addFamily(id: number, name: string): void {
    this.columnFamilies.set(id, {
      id,
      name,
      comparator: undefined,
      logNumber: undefined,
      fullHistoryTsLow: undefined,
      persistUserDefinedTimestamps: undefined,
      files: new Map(),
      blobFiles: new Map(),
      compactCursors: new Map(),
    });
  }

  private complain(code: string, offset: number | undefined, reason: string): void {
    this.fault(new CorruptionError(code, reason, offset === undefined ? {} : { offset }));
  }
}
