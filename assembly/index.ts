/** The module: loops over bytes that the caller has copied in. src/kernels/open-kernels.ts is the caller. */
export { INPUT, INPUT_BYTES, OFFSETS, HASHES, BATCH_KEYS, HIGH } from './memory';
export { crc32c } from './crc32c';
export { xxh3, xxph3, xxph3Batch, xxph3Words, longBegin, xxh3Blocks, xxph3Blocks, xxh3End, xxph3End } from './xxh3';
export { ALLOWED, findBegin, findStep } from './find-block-end';
export { SOURCE, SOURCE_BYTES, TEXT, TEXT_BYTES, KEY, KEY_BYTES, UNPACKED, UNPACKED_BYTES } from './memory';
export { hex, hexUpper, escape, unhex } from './text';
export { unsnap } from './snappy';
export { EQUATION, ribbonEquation, ribbonEquationWords } from './ribbon-key';
