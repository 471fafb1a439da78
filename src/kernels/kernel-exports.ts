/** What assembly/index.ts exports. Results are int32; the caller makes them unsigned. */
export interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly INPUT: { readonly value: number };
  readonly INPUT_BYTES: { readonly value: number };
  readonly OFFSETS: { readonly value: number };
  readonly HASHES: { readonly value: number };
  readonly BATCH_KEYS: { readonly value: number };
  readonly ALLOWED: { readonly value: number };
  readonly HIGH: { readonly value: number };
  crc32c(crc: number, length: number): number;
  xxh3(length: number): number;
  xxph3(length: number): number;
  xxph3Batch(count: number): void;
  xxph3Words(
    a0: number,
    a1: number,
    b0: number,
    b1: number,
    c0: number,
    c1: number,
    d0: number,
    d1: number,
    length: number,
  ): number;
  longBegin(): void;
  xxh3Blocks(count: number): void;
  xxph3Blocks(count: number): void;
  xxh3End(rest: number, total: number): number;
  xxph3End(rest: number, total: number): number;
  readonly SOURCE: { readonly value: number };
  readonly SOURCE_BYTES: { readonly value: number };
  readonly TEXT: { readonly value: number };
  readonly TEXT_BYTES: { readonly value: number };
  readonly KEY: { readonly value: number };
  readonly KEY_BYTES: { readonly value: number };
  readonly UNPACKED: { readonly value: number };
  readonly UNPACKED_BYTES: { readonly value: number };
  hex(start: number, end: number, pos: number): number;
  hexUpper(start: number, end: number, pos: number): number;
  escape(start: number, end: number, pos: number): number;
  unhex(length: number): number;
  readonly EQUATION: { readonly value: number };
  ribbonEquation(length: number, rawSeed: number, starts: number): void;
  ribbonEquationWords(
    rawSeed: number,
    starts: number,
    a0: number,
    a1: number,
    b0: number,
    b1: number,
    c0: number,
    c1: number,
    d0: number,
    d1: number,
    length: number,
  ): void;
  unsnap(start: number, inputLength: number, length: number): number;
  findBegin(): void;
  findStep(type: number, modifier: number, base: number, from: number, to: number, test: number): number;
}
