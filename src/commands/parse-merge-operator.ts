import { InvalidArgumentError } from '../errors.ts';
import type { NamedMergeOperator } from '../operators/merge-operator.ts';

/** `NAME`, `NAME:DELIM`; a string append without a delimiter has RocksDB's, a comma. */
export async function parseMergeOperator(text: string | undefined): Promise<NamedMergeOperator | undefined> {
  if (text === undefined) return undefined;
  const { MERGE_OPERATOR_NAMES, mergeOperatorByName } = await import('../operators/merge-operator.ts');
  const { parseKey } = await import('../render/key-format.ts');
  const colon = text.indexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  const delimiter = colon < 0 ? undefined : parseKey(text.slice(colon + 1), 'merge-operator');
  const named = mergeOperatorByName(name, delimiter ?? Uint8Array.of(0x2c));
  if (named.status === 'known' || named.status === 'none') {
    const takesDelimiter = named.status === 'known' && named.operator.name.startsWith('StringAppend');
    if (delimiter === undefined || takesDelimiter) return named;
    throw new InvalidArgumentError('merge-operator', text, `merge operator ${name} has no delimiter`);
  }
  throw new InvalidArgumentError(
    'merge-operator',
    text,
    `merge operator ${name} is not known here: there are ${MERGE_OPERATOR_NAMES}`,
  );
}
