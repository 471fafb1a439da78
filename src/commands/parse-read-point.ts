import { NEWEST, type ReadPoint, readPoint } from '../engine/table/read-point.ts';
import { InvalidArgumentError } from '../errors.ts';

const MAX_SEQNO = 2n ** 56n - 1n;

/** `--at-seqno`; everything can be seen where it is not given. */
export function parseReadPoint(text: string | undefined): ReadPoint {
  if (text === undefined) return NEWEST;
  const seqno = /^\d+$/.test(text) ? BigInt(text) : -1n;
  if (seqno >= 0n && seqno <= MAX_SEQNO) return readPoint(seqno);
  throw new InvalidArgumentError(
    'at-seqno',
    text,
    `--at-seqno ${text}: a sequence number from 0 to ${MAX_SEQNO}`,
  );
}
