/**
 * What the layers above expect of the system they run on, without any of it: no import of this file
 * reaches Node, so a browser edge or a test can fill the same interfaces.
 */
import type { ByteSource } from '../bytes/source.ts';
import type { DecodeZstdFrames } from '../codec/batch.ts';
import type { CodecRegistry } from '../codec/registry.ts';
import type { HashFunctions } from '../hash/registry.ts';

/** A source that holds something open. */
export interface FileSource extends ByteSource {
  /** Gives it back; reading afterwards is a bug of the caller. May be called twice. */
  close(): void;
}

export type EntryKind = 'file' | 'directory' | 'other';

export interface DirectoryEntry {
  /** Without the directory's path. */
  name: string;
  /** Of what a symbolic link points to; `other` also for one that points nowhere. */
  kind: EntryKind;
}

export interface FileStatus {
  kind: EntryKind;
  /** Bytes; 0 for what is not a file. */
  size: number;
  /** Microseconds since 1970. */
  modifiedMicros: number;
}

/** Reading files and directories. Everything throws IoError with the path as it was given. */
export interface FileSystem {
  open(path: string): FileSource;
  /** The entries of a directory, sorted by name (UTF-16 code units), without `.` and `..`. */
  list(path: string): DirectoryEntry[];
  /** Follows symbolic links. */
  status(path: string): FileStatus;
}

export interface Clock {
  /** Microseconds since 1970, as RocksDB writes times in log files. */
  nowMicros(): number;
  /** Nanoseconds since some moment, never going back: for measuring. */
  monotonicNanos(): number;
}

export interface RandomSource {
  /** Uniform over 32 bits. */
  uint32(): number;
}

/** Everything that commands and pipelines take from the system, opened once and passed down. */
export interface Environment {
  readonly files: FileSystem;
  readonly hashes: HashFunctions;
  readonly codecs: CodecRegistry;
  readonly decodeZstdFrames: DecodeZstdFrames;
  readonly clock: Clock;
  readonly random: RandomSource;
}
