/**
 * What a block of a table is for. The words stand in reports (`block.type`) and in errors (`blockType`).
 * `footer` and `unknown` are no blocks: the first is the file's end, the second a range that nothing refers to.
 */
export type BlockType =
  | 'footer'
  | 'metaindex'
  | 'properties'
  | 'index'
  | 'index_partition'
  | 'filter'
  | 'filter_partition'
  | 'filter_index'
  | 'compression_dict'
  | 'range_del'
  | 'hash_prefixes'
  | 'hash_metadata'
  | 'user_defined_index'
  | 'data'
  | 'unknown';
