import { InvalidArgumentError } from '../../errors.ts';
import { parseCustomizable } from '../../operators/prefix-extractor.ts';
import { FULL_FILTER_PREFIX, PARTITIONED_FILTER_PREFIX } from '../metaindex.ts';
import { millibitsPerKey } from './bloom-math.ts';
import type { FilterKind } from './filter-metadata.ts';

/**
 * Which filter a table gets. The file keeps the policy's name as property `rocksdb.filter.policy`; which filter it
 * has stands in the filter itself.
 * Source: RocksDB table/block_based/filter_policy.cc.
 */
export interface FilterPolicy {
  /** Property `rocksdb.filter.policy`; releases before 7.0 write `BUILTIN_FILTER_NAME` instead. */
  readonly name: FilterPolicyName;
  /** As it was given: of Ribbon those of the Bloom filter with the same rate of false positives. */
  readonly bitsPerKey: number;
  /** Of `ribbonfilter`: levels below this one (a flush counts as -1) get a Bloom filter, which is built faster. */
  readonly bloomBeforeLevel: number;
}

export type FilterPolicyName =
  | 'bloomfilter'
  | 'ribbonfilter'
  /** Of one kind always, whatever the format_version: RocksDB's tests name them. */
  | 'rocksdb.internal.LegacyBloomFilter'
  | 'rocksdb.internal.FastLocalBloomFilter'
  | 'rocksdb.internal.Standard128RibbonFilter'
  /** Reads all built-in filters and writes none. */
  | 'rocksdb.BuiltinBloomFilter';

/** The name of all built-in policies in a table's metaindex, since ever. */
export const BUILTIN_FILTER_NAME = 'rocksdb.BuiltinBloomFilter';

/** The name under which a table's metaindex has its filter. */
export function filterMetaindexKey(partitioned: boolean): string {
  return (partitioned ? PARTITIONED_FILTER_PREFIX : FULL_FILTER_PREFIX) + BUILTIN_FILTER_NAME;
}

/** What a policy asks of the table that is written. */
export interface TableOrigin {
  readonly formatVersion: number;
  /** The level that a compaction writes to, -1 for a flush. Undefined, as for external files: as the last level. */
  readonly level?: number;
}

/** "Bloom for all levels" of RocksDB: INT_MAX. */
const ALL_LEVELS = 0x7fffffff;
/** The first format_version with FastLocalBloom. */
const FAST_LOCAL_BLOOM_VERSION = 5;

/** The filter to build; undefined where the policy writes none. */
export function filterKindOf(
  policy: FilterPolicy,
  { formatVersion, level = ALL_LEVELS - 1 }: TableOrigin,
): Exclude<FilterKind, 'always_true' | 'always_false'> | undefined {
  if (millibitsPerKey(policy.bitsPerKey) === 0) return undefined;
  switch (policy.name) {
    case 'bloomfilter':
      return formatVersion < FAST_LOCAL_BLOOM_VERSION ? 'legacy_bloom' : 'fast_local_bloom';
    case 'ribbonfilter':
      return level < policy.bloomBeforeLevel ? 'fast_local_bloom' : 'ribbon';
    case 'rocksdb.internal.LegacyBloomFilter':
      return 'legacy_bloom';
    case 'rocksdb.internal.FastLocalBloomFilter':
      return 'fast_local_bloom';
    case 'rocksdb.internal.Standard128RibbonFilter':
      return 'ribbon';
    case BUILTIN_FILTER_NAME:
      return undefined;
  }
}

/** Other spellings of the names. */
const NAMES: Readonly<Record<string, FilterPolicyName>> = {
  bloom: 'bloomfilter',
  bloomfilter: 'bloomfilter',
  'rocksdb.BloomFilter': 'bloomfilter',
  ribbon: 'ribbonfilter',
  ribbonfilter: 'ribbonfilter',
  'rocksdb.RibbonFilter': 'ribbonfilter',
  'rocksdb.internal.LegacyBloomFilter': 'rocksdb.internal.LegacyBloomFilter',
  'rocksdb.internal.FastLocalBloomFilter': 'rocksdb.internal.FastLocalBloomFilter',
  'rocksdb.internal.Standard128RibbonFilter': 'rocksdb.internal.Standard128RibbonFilter',
};

/** name, bits a key, and what a Bloom filter (use the old block filter) or a Ribbon filter (level) has behind it. */
const POLICY = /^([A-Za-z0-9.]+):(\d+(?:\.\d*)?)(?::(true|false|-?\d{1,10}))?$/;

/**
 * Reads a policy as flags and OPTIONS files spell it: `bloom:10`, `bloomfilter:10:false`, `ribbon:10`,
 * `ribbonfilter:10:1`, `rocksdb.RibbonFilter:10`, `{id=ribbonfilter:10:0;bloom_before_level=0;}`. Undefined for no
 * filter: `none`, `nullptr` or nothing. Throws InvalidArgumentError.
 */
export function parseFilterPolicy(text: string): FilterPolicy | undefined {
  const { id, options } = parseCustomizable(text);
  if (id === 'none' || id === 'nullptr' || id === '') return undefined;
  if (id === BUILTIN_FILTER_NAME) return { name: BUILTIN_FILTER_NAME, bitsPerKey: 0, bloomBeforeLevel: 0 };
  const match = POLICY.exec(id);
  const name = match === null || !Object.hasOwn(NAMES, match[1]!) ? undefined : NAMES[match[1]!]!;
  const last = match?.[3];
  // A third part that is not the policy's own.
  const isForeign =
    last !== undefined && (/^-?\d/.test(last) ? name !== 'ribbonfilter' : name !== 'bloomfilter');
  const level = options.get('bloom_before_level') ?? (name === 'ribbonfilter' ? last : undefined) ?? '0';
  if (name === undefined || isForeign || !/^-?\d+$/.test(level)) {
    throw new InvalidArgumentError(
      'filter-policy',
      text,
      `filter policy ${text} is not known here: there are bloom:<bits a key>, ` +
        'ribbon:<bits a key>[:<first level with Ribbon>] and none',
    );
  }
  return { name, bitsPerKey: Number(match![2]), bloomBeforeLevel: Number(level) };
}

/** The policy as RocksDB's OPTIONS files have it; `nullptr` for none. */
export function formatFilterPolicy(policy: FilterPolicy | undefined): string {
  if (policy === undefined) return 'nullptr';
  if (policy.name === BUILTIN_FILTER_NAME) return policy.name;
  const id = `${policy.name}:${millibitsPerKey(policy.bitsPerKey) / 1000}`;
  // The last part is for releases before 7.0, which want to know whether to build the old block filter.
  if (policy.name === 'bloomfilter') return `${id}:false`;
  if (policy.name !== 'ribbonfilter') return id;
  const level = policy.bloomBeforeLevel;
  return `{id=${id}:${level};bloom_before_level=${level};}`;
}
