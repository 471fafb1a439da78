import { compareBytes } from '../../bytes/compare.ts';
import type { Comparator } from '../../operators/comparator.ts';

/** Stands for a comparator that is not known here: rows come in its order, and only equal keys are told apart. */
export function orderAsGiven(name: string, timestampSize: number): Comparator {
  const compare: Comparator['compare'] = (a, aStart, aEnd, b, bStart, bEnd) =>
    compareBytes(a, aStart, aEnd, b, bStart, bEnd) === 0 ? 0 : -1;
  const comparator: { -readonly [Field in keyof Comparator]?: Comparator[Field] } = {
    name,
    timestampSize,
    compare,
  };
  comparator.withoutTimestamp =
    timestampSize === 0 ? (comparator as Comparator) : { ...orderAsGiven(name, 0), name };
  return comparator as Comparator;
}
