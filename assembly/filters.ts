/** The filter module: building filters in a memory of the caller. src/kernels/filter-kernel.ts is the caller. */
export { KEYS, KEYS_BYTES, ENDS, KEYS_MAX, ROLES, HASHES } from './filter-memory';
export { resetKeys, addKeys, addKeysAndPrefixes, addHash } from './filter-keys';
export { fillBloom, fillLegacyBloom } from './bloom';
export { enterEquations, substituteBack } from './ribbon';
