import { InvalidArgumentError, UnsupportedError } from '../../errors.ts';
import type { TableOptions } from '../../format/table-builder/table-options.ts';
import { bytewiseComparator, type Comparator } from '../../operators/comparator.ts';
import {
  type MergeOperator,
  mergeOperatorByName,
  type NamedMergeOperator,
} from '../../operators/merge-operator.ts';
import type { CompactInput } from './compact-input.ts';
import { identityOf, optionsOfInput } from './input-options.ts';

/** What the inputs of a compaction say of themselves, agree on, or are told otherwise. */

interface Voice {
  note(text: string): void;
  warning(text: string): void;
}

/** Values that lie in the table itself are found by their offset in it. Throws UnsupportedError. */
export function refuseEmbeddedValues(inputs: readonly CompactInput[]): void {
  const input = inputs.find(({ properties }) => properties?.raw.has('rocksdb.embedded.blob.stats') === true);
  if (input === undefined) return;
  throw new UnsupportedError(
    'embedded_blobs',
    input.path,
    'values are embedded in the table (blob file 0): they are not moved into another one yet',
    { file: input.path },
  );
}

/** The one order of all inputs. Throws InvalidArgumentError when they have several, or one that is not known here. */
export function agreedComparator(
  inputs: readonly CompactInput[],
  asked: Comparator | undefined,
  salvage: boolean,
  voice: Voice,
): Comparator {
  if (asked !== undefined) return asked;
  const named = inputs.filter(({ comparatorName }) => comparatorName !== undefined);
  const [first] = named;
  for (const input of named) {
    if (input.comparator === undefined) {
      const name = input.comparatorName!;
      throw new InvalidArgumentError(
        'comparator',
        name,
        `${input.path}: comparator ${name} is not known here: give one that orders keys alike with --comparator`,
      );
    }
    if (input.comparatorName !== first!.comparatorName) {
      throw new InvalidArgumentError(
        'comparator',
        input.comparatorName!,
        `comparators differ: ${first!.path} has ${first!.comparatorName}, ${input.path} has ${input.comparatorName}`,
      );
    }
  }
  if (named.length === inputs.length) return first!.comparator!;
  const nameless = inputs.find(({ comparatorName }) => comparatorName === undefined)!;
  const comparator = first?.comparator ?? bytewiseComparator;
  // Without properties the file is damaged: unless it is to be salvaged, it is refused when it is checked.
  if (salvage) {
    voice.warning(
      `${nameless.path}: its properties are lost: its keys are taken to be in the order of ${comparator.name} ` +
        '(--comparator says otherwise)',
    );
  }
  return comparator;
}

/** How operands combine: by the request, or by what the inputs say and agree on. Undefined: they stay as they are. */
export function agreedOperator(
  inputs: readonly CompactInput[],
  asked: NamedMergeOperator | undefined,
  voice: Voice,
): MergeOperator | undefined {
  if (asked !== undefined) return asked.status === 'known' ? asked.operator : undefined;
  const names = new Set(
    inputs.map(({ properties }) => properties?.get('rocksdb.merge.operator') || 'nullptr'),
  );
  names.delete('nullptr');
  if (names.size === 0 || !inputs.some(hasOperands)) return undefined;
  const [name] = names;
  const named = mergeOperatorByName(name);
  if (names.size === 1 && named.status === 'known') return named.operator;
  const why =
    names.size > 1
      ? `the inputs name several operators (${[...names].join(', ')})`
      : named.status === 'incomplete'
        ? `the files do not say the delimiter of ${name}: --merge-operator ${name}:DELIM resolves them`
        : `operator ${name} is not known here`;
  voice.note(`merge operands are kept as they are: ${why}`);
  return undefined;
}

function hasOperands({ properties }: CompactInput): boolean {
  return properties?.count('rocksdb.merge.operands') !== 0;
}

export function warnOfUnknownOrder(inputs: readonly CompactInput[], voice: Voice): void {
  if (inputs.length < 2) return;
  for (const { path, hasUnknownSeqno } of inputs) {
    if (!hasUnknownSeqno) continue;
    voice.warning(
      `${path}: a file for ingestion with a stored global sequence number of 0: which of its entries are newer than ` +
        'those of the other files stands in a MANIFEST alone, so it cannot be ordered; here it counts as the oldest',
    );
  }
}

/** How the outputs are written: as the largest input was, but for what is asked. */
export function outputOptions(
  inputs: readonly CompactInput[],
  comparator: Comparator,
  operator: MergeOperator | undefined,
  asked: TableOptions,
  targetFileBytes: number,
  voice: Voice,
): TableOptions {
  const [largest] = [...inputs].sort((a, b) => b.source.size - a.source.size);
  const told = optionsOfInput(largest!, voice.note);
  // LevelDB's tables hold puts and deletes alone, no range tombstones, and have no format_version.
  const isLevelDb =
    told.writerProfile === 'leveldb' &&
    asked.formatVersion === undefined &&
    inputs.every(({ opened }) => opened.plain === undefined && opened.table.family === 'leveldb');
  const { writerProfile: _, ...rest } = told;
  const base = fittingOptions(isLevelDb ? told : rest, asked);
  // Tables of older releases cannot leave them out: there they are zeros.
  const persisted =
    (asked.writerProfile ?? '11.9') !== '11.9' ||
    inputs.every(({ paddedTimestampSize }) => paddedTimestampSize === 0);
  const operatorName = operator?.name ?? base.mergeOperatorName;
  return {
    ...base,
    ...(comparator.timestampSize > 0 ? { persistUserDefinedTimestamps: persisted } : {}),
    ...(operatorName === undefined ? {} : { mergeOperatorName: operatorName }),
    // A file for ingestion comes from no database and belongs to no column family.
    identity: asked.external ? {} : identityOf(inputs),
    ...(targetFileBytes === Number.POSITIVE_INFINITY ? {} : { targetFileSize: targetFileBytes }),
    ...asked,
    comparator,
    compressionOptions: { ...base.compressionOptions, ...asked.compressionOptions },
  };
}

/** What the inputs say, without what does not go with the release or the compression that was asked for. */
function fittingOptions(told: TableOptions, asked: TableOptions): TableOptions {
  if (asked.writerProfile === 'leveldb') return {};
  const fitting: { -readonly [Name in keyof TableOptions]: TableOptions[Name] } = { ...told };
  if (asked.writerProfile === '7.8') {
    fitting.formatVersion = Math.min(MAX_FORMAT_VERSION_7_8, told.formatVersion ?? MAX_FORMAT_VERSION_7_8);
    delete fitting.separateKeyValueInDataBlock;
  }
  if (asked.compression !== undefined && asked.compression !== told.compression) {
    // A level, and what is in a dictionary, belong to one codec.
    const { level: _level, checksum: _checksum, ...rest } = told.compressionOptions ?? {};
    fitting.compressionOptions = rest;
  }
  return fitting;
}

const MAX_FORMAT_VERSION_7_8 = 5;
