/**
 * The errors of this project. Every error that is not a bug is an `SstError` with a stable `code`;
 * the class says what kind of answer it is, and with it the exit status (docs/exit-codes.md).
 * Own fields are enumerable, so that `--json` shows them. Messages are free text and may change.
 */

export interface ErrorPlace {
  /** Path as the user gave it. */
  file?: string;
  /** Bytes from the start of the file. */
  offset?: number;
  /** Block kind in the words of src/format/block-type.ts. */
  blockType?: string;
  /** Stored and computed checksum, hexadecimal, where a checksum was compared. */
  stored?: string;
  computed?: string;
}

export abstract class SstError extends Error {
  declare readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/**
 * The bytes are not what the format says. `code` is one of the finding codes of docs/findings.md.
 * A decoder that is pure over bytes says only what is wrong; the reader that knows the file adds the place
 * with `at`, which also puts it in front of the message:
 * `000012.sst: data block at 4096: crc32c mismatch, stored 1a2b3c4d, computed 99e0f211`.
 */
export class CorruptionError extends SstError {
  declare readonly file?: string;
  declare readonly offset?: number;
  declare readonly blockType?: string;
  declare readonly stored?: string;
  declare readonly computed?: string;
  /** What is wrong, without the place. */
  readonly reason: string;

  constructor(code: string, reason: string, place: ErrorPlace = {}, options?: ErrorOptions) {
    super(code, placePrefix(place) + reason, options);
    this.reason = reason;
    Object.assign(this, place);
  }

  /** The same fault with the parts of the place that it did not know itself. */
  at(place: ErrorPlace): CorruptionError {
    return new CorruptionError(
      this.code,
      this.reason,
      { ...place, ...definedPlace(this) },
      { cause: this.cause },
    );
  }
}

/** The bytes follow a format that is known but that this build does not read. */
export class UnsupportedError extends SstError {
  declare readonly file?: string;
  declare readonly offset?: number;
  declare readonly blockType?: string;
  readonly feature: string;
  readonly value: string | number;
  readonly reason: string;

  constructor(feature: string, value: string | number, reason: string, place: ErrorPlace = {}) {
    super('unsupported', placePrefix(place) + reason);
    this.feature = feature;
    this.value = value;
    this.reason = reason;
    Object.assign(this, place);
  }

  at(place: ErrorPlace): UnsupportedError {
    return new UnsupportedError(this.feature, this.value, this.reason, { ...place, ...definedPlace(this) });
  }
}

/** What the caller (or the user) asked for cannot be meant. */
export class InvalidArgumentError extends SstError {
  /** The argument's name: `name` itself is taken by Error. */
  readonly argument: string;
  readonly value: string;

  constructor(argument: string, value: string, message: string) {
    super('invalid_argument', message);
    this.argument = argument;
    this.value = value;
  }
}

/** The file cannot be opened, read or written: wraps the system's error with its path. */
export class IoError extends SstError {
  readonly file: string;

  constructor(code: string, file: string, message: string, options?: ErrorOptions) {
    super(code, `${file}: ${message}`, options);
    this.file = file;
  }
}

/**
 * Not an error but a signal: a synchronous step needs something that is not here yet (a range of an
 * asynchronous source, a codec that has to be loaded). The driver awaits `settle()` and runs the step again;
 * see `withPending`. Steps are therefore small and without side effects.
 */
export abstract class Pending {
  abstract settle(): Promise<void>;
}

export async function withPending<T>(step: () => T): Promise<T> {
  for (;;) {
    try {
      return step();
    } catch (signal) {
      if (!isPending(signal)) throw signal;
      await signal.settle();
    }
  }
}

/** Told by its shape: the registry or the source may come from another bundle of this library. */
function isPending(signal: unknown): signal is Pending {
  if (signal instanceof Pending) return true;
  return (
    typeof signal === 'object' && signal !== null && 'settle' in signal && typeof signal.settle === 'function'
  );
}

function definedPlace(error: ErrorPlace): ErrorPlace {
  const place: ErrorPlace = {};
  if (error.file !== undefined) place.file = error.file;
  if (error.offset !== undefined) place.offset = error.offset;
  if (error.blockType !== undefined) place.blockType = error.blockType;
  if (error.stored !== undefined) place.stored = error.stored;
  if (error.computed !== undefined) place.computed = error.computed;
  return place;
}

function placePrefix({ file, offset, blockType }: ErrorPlace): string {
  const kind = blockType === undefined ? '' : blockKindText(blockType);
  const where = offset === undefined ? kind : `${kind}${kind === '' ? '' : ' '}at ${offset}`;
  return [file, where]
    .filter((part) => part !== undefined && part !== '')
    .map((part) => `${part}: `)
    .join('');
}

/** `range_del` reads as "range_del block"; footers and whole files are not blocks. */
function blockKindText(blockType: string): string {
  return blockType === 'footer' ? 'footer' : `${blockType} block`;
}
