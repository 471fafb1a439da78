/** The module: hashes over bytes that the caller has copied to INPUT. src/kernels/open-kernels.ts is the caller. */
export { INPUT, INPUT_BYTES, OFFSETS, HASHES, BATCH_KEYS, HIGH } from './memory';
export { crc32c } from './crc32c';
export { xxh3, xxph3, xxph3Batch, longBegin, xxh3Blocks, xxph3Blocks, xxh3End, xxph3End } from './xxh3';
export { ALLOWED, findBegin, findStep } from './find-block-end';
