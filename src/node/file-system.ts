import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DirectoryEntry, EntryKind, FileStatus, FileSystem } from '../engine/environment.ts';
import { systemPath } from './demo-files.ts';
import { openFileSource } from './file-source.ts';
import { wrapSystemError } from './io-error.ts';

/** The file system of this machine, by node:fs. */
export const nodeFileSystem: FileSystem = {
  open: (path) => openFileSource(systemPath(path), path),
  list: listDirectory,
  status: readStatus,
};

function listDirectory(path: string): DirectoryEntry[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(path, { withFileTypes: true });
  } catch (error) {
    throw wrapSystemError(error, path);
  }
  return entries
    .map((entry) => ({ name: entry.name, kind: kindOfEntry(path, entry) }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function kindOfEntry(path: string, entry: Dirent): EntryKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  if (!entry.isSymbolicLink()) return 'other';
  try {
    return kindOf(statSync(join(path, entry.name)));
  } catch {
    return 'other';
  }
}

function readStatus(path: string): FileStatus {
  try {
    const status = statSync(systemPath(path));
    return {
      kind: kindOf(status),
      size: status.isFile() ? status.size : 0,
      modifiedMicros: Math.floor(status.mtimeMs * 1000),
    };
  } catch (error) {
    throw wrapSystemError(error, path);
  }
}

function kindOf(status: Stats): EntryKind {
  return status.isFile() ? 'file' : status.isDirectory() ? 'directory' : 'other';
}
