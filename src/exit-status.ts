/** Exit statuses (docs/exit-codes.md) and what an error means for them. */

import { CorruptionError, InvalidArgumentError, IoError, SstError, UnsupportedError } from './errors.ts';

export const ExitStatus = {
  ok: 0,
  /** Damage, or a failed check. */
  damage: 1,
  usage: 2,
  /** Something could not be read at all, or an output could not be written. */
  unreadable: 3,
  /** Recognised, but not supported. */
  unsupported: 4,
  /** A bug of ours. */
  bug: 5,
  interrupted: 130,
} as const;
export type ExitStatus = (typeof ExitStatus)[keyof typeof ExitStatus];

/** Of several, the first in this order is the one to end with. */
const PRECEDENCE: readonly ExitStatus[] = [
  ExitStatus.interrupted,
  ExitStatus.bug,
  ExitStatus.usage,
  ExitStatus.damage,
  ExitStatus.unreadable,
  ExitStatus.unsupported,
  ExitStatus.ok,
];

export function worstStatus(...statuses: readonly ExitStatus[]): ExitStatus {
  return PRECEDENCE.find((status) => statuses.includes(status)) ?? ExitStatus.ok;
}

export function statusOfError(error: unknown): ExitStatus {
  if (error instanceof CorruptionError) return ExitStatus.damage;
  if (error instanceof InvalidArgumentError) return ExitStatus.usage;
  if (error instanceof IoError) return ExitStatus.unreadable;
  if (error instanceof UnsupportedError) return ExitStatus.unsupported;
  return ExitStatus.bug;
}

export interface ErrorDocument {
  schema: 1;
  error: { code: string; message: string; file?: string; offset?: number; blockType?: string };
}

/** What `--json` prints of an error. */
export function errorDocument(error: unknown): ErrorDocument {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof SstError)) return { schema: 1, error: { code: 'internal', message } };
  const { file, offset, blockType } = error as { file?: string; offset?: number; blockType?: string };
  // Undefined members are left out by JSON.
  return { schema: 1, error: { code: error.code, message, file, offset, blockType } };
}
