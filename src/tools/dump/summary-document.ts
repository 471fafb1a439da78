import { hex32, toHex } from '../../bytes/text.ts';
import type { BlockType } from '../../format/block-type.ts';
import { UNKNOWN_UINT64 } from '../../format/properties.ts';
import type { TableDump } from '../dump.ts';
import type { Json, PropertyView } from './describe-properties.ts';
import type { BlockTotals, KindTotals } from './survey-blocks.ts';

/** A table's description as JSON (schema/dump.schema.json), without what the document of every file has. */
export function summaryDocument(dump: TableDump): { readonly [name: string]: Json } {
  const { plain, cuckoo, compatibility } = dump;
  return {
    footer: footerJson(dump),
    metaindex: dump.metaindex?.map(({ name, type, offset, size }) => ({ name, offset, size, type })) ?? null,
    ...propertiesDocument(dump.properties),
    index: indexJson(dump),
    filter: filterJson(dump),
    dictionary: dictionaryJson(dump),
    rangeTombstones: dump.rangeTombstones ?? null,
    blocks: blocksJson(dump.blocks),
    globalSeqno: globalSeqnoJson(dump),
    timestamps: timestampsJson(dump),
    ...(plain === null
      ? {}
      : {
          plain: {
            rowsEnd: plain.rowsEnd ?? null,
            encoding: plain.encoding ?? null,
            keyLength: plain.keyLength ?? null,
          },
        }),
    ...(cuckoo === null ? {} : { cuckoo: { ...cuckoo, emptyKey: toHex(cuckoo.emptyKey) } }),
    compatibility: {
      rocksdb: { first: compatibility.first, before: compatibility.before },
      leveldb: compatibility.leveldb,
      requirements: compatibility.requirements.map((requirement) => ({ ...requirement })),
      sampledBlocks: dump.sample.blocks,
    },
    recovered: dump.recovered,
    appendedBytes: dump.appendedBytes,
  };
}

/** `properties`, `userProperties`, and in `malformedProperties` what does not decode. */
export function propertiesDocument(view: PropertyView): { readonly [name: string]: Json } {
  const known = Object.fromEntries(view.known.map(({ jsonName, value }) => [jsonName, value]));
  const document = {
    properties: view.missing === undefined ? known : null,
    userProperties: hexByName(view.user),
  };
  return view.malformed.length === 0
    ? document
    : { ...document, malformedProperties: hexByName(view.malformed) };
}

function hexByName(pairs: PropertyView['user']): { readonly [name: string]: Json } {
  return Object.fromEntries(pairs.map(([name, value]) => [name, toHex(value)]));
}

function footerJson({ footer, format, checksum, indexHandle }: TableDump): Json {
  if (footer === undefined) return null;
  const { magic, formatVersion, metaindex, offset, size, baseContextChecksum } = footer;
  const index = indexHandle ?? footer.index;
  return {
    magic,
    format,
    formatVersion,
    checksum,
    metaindex: { offset: metaindex.offset, size: metaindex.size },
    index: index === null ? null : { offset: index.offset, size: index.size },
    offset,
    size,
    ...(baseContextChecksum === 0 ? {} : { baseContextChecksum: hex32(baseContextChecksum) }),
  };
}

function indexJson({ index }: TableDump): Json {
  return index === undefined ? null : { ...index };
}

function filterJson({ filter }: TableDump): Json {
  if (filter === null) return null;
  const { kind, metaindexName, bitsPerKey, partitions, bytes, entries, isRead, wholeKeys, prefixExtractor } =
    filter;
  const { probes, lines, lineBytes, seed, slotBlocks } = filter;
  return {
    kind,
    metaindexName,
    bitsPerKey: bitsPerKey === undefined ? null : Math.round(bitsPerKey * 1000) / 1000,
    partitions,
    bytes,
    entries: entries ?? null,
    isRead,
    wholeKeys,
    prefixExtractor: prefixExtractor ?? null,
    ...(probes === undefined ? {} : { probes }),
    ...(lines === undefined ? {} : { lines }),
    ...(lineBytes === undefined ? {} : { lineBytes }),
    ...(seed === undefined ? {} : { seed }),
    ...(slotBlocks === undefined ? {} : { slotBlocks }),
  };
}

function dictionaryJson({ dictionary }: TableDump): Json {
  if (dictionary === null) return null;
  const { offset, size, used, zstdId } = dictionary;
  return { offset, size, used, zstdId: zstdId ?? null };
}

function globalSeqnoJson({ globalSeqno }: TableDump): Json {
  if (globalSeqno === null) return null;
  const { stored, effective } = globalSeqno;
  return { stored: String(stored), effective: effective === UNKNOWN_UINT64 ? null : String(effective) };
}

function timestampsJson({ timestamps }: TableDump): Json {
  if (timestamps === null) return null;
  const { sizeBytes, persisted, min, max } = timestamps;
  return {
    size: sizeBytes,
    persisted,
    min: min === undefined ? null : toHex(min),
    max: max === undefined ? null : toHex(max),
  };
}

function blocksJson(blocks: ReadonlyMap<BlockType, KindTotals>): Json {
  const document: { [kind: string]: Json } = { data: kindJson(EMPTY_KIND) };
  for (const [type, totals] of blocks) document[type] = kindJson(totals);
  return document;
}

const EMPTY_KIND: KindTotals = { count: 0, bytes: 0, rawBytes: 0, compressions: new Map() };

function kindJson(kind: KindTotals): Json {
  const byCompression: { [name: string]: Json } = {};
  const compressions: { [name: string]: Json } = {};
  for (const [name, totals] of kind.compressions) {
    byCompression[name] = totals.count;
    compressions[name] = {
      ...totalsJson(totals),
      typeBytes: [...totals.typeBytes].sort((a, b) => a - b),
      codecs: [...totals.codecs].sort(),
    };
  }
  return { ...totalsJson(kind), byCompression, compressions };
}

function totalsJson({ count, bytes, rawBytes }: BlockTotals): { readonly [name: string]: Json } {
  return { count, bytes, rawBytes };
}
