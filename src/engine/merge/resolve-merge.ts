import { ByteWriter } from '../../bytes/byte-writer.ts';
import { InvalidArgumentError, UnsupportedError } from '../../errors.ts';
import { decodeWideColumns, encodeWideColumns, PREFERRED_SEQNO_SIZE } from '../../format/entry-value.ts';
import { ValueType } from '../../format/value-type.ts';
import type { MergeOperator } from '../../operators/merge-operator.ts';

/** A value that a reader sees: its bytes as an entry of the type would store them. */
export interface MergedValue {
  readonly type: number;
  readonly value: Uint8Array;
}

/**
 * What operands, oldest first and at least one, make of the value below them; `base` is undefined where there is
 * none. Of an entity the default column is merged, and the others stay. Throws InvalidArgumentError without an
 * operator, UnsupportedError for a base that lies in a blob file.
 */
export function resolveMerge(
  operator: MergeOperator | undefined,
  base: MergedValue | undefined,
  operands: readonly Uint8Array[],
): MergedValue {
  if (operator === undefined) {
    throw new InvalidArgumentError(
      'merge-operator',
      '',
      'the value is made of merge operands, and the merge operator is not known here: give one with --merge-operator',
    );
  }
  switch (base?.type) {
    case undefined:
    case ValueType.value:
      return { type: ValueType.value, value: operator.fullMerge(base?.value, operands) };
    case ValueType.valuePreferredSeqno: {
      const value = base!.value.subarray(0, base!.value.length - PREFERRED_SEQNO_SIZE);
      return { type: ValueType.value, value: operator.fullMerge(value, operands) };
    }
    case ValueType.wideColumnEntity:
      return { type: ValueType.wideColumnEntity, value: mergeDefaultColumn(operator, base!.value, operands) };
    default:
      throw new UnsupportedError(
        'merge',
        base!.type,
        'merge operands lie on a value in a blob file, which is not read here',
      );
  }
}

const DEFAULT_COLUMN = new Uint8Array(0);

function mergeDefaultColumn(
  operator: MergeOperator,
  entity: Uint8Array,
  operands: readonly Uint8Array[],
): Uint8Array {
  const columns = decodeWideColumns(entity, 0, entity.length);
  const value = columns.find(({ name }) => name.length === 0)?.value ?? DEFAULT_COLUMN;
  const merged = { name: DEFAULT_COLUMN, value: operator.fullMerge(value, operands) };
  const out = new ByteWriter();
  encodeWideColumns([merged, ...columns.filter(({ name }) => name.length > 0)], out);
  return out.copy();
}
