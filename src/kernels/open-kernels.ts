import { UnsupportedError } from '../errors.ts';
import { FilterKernel, type FilterKernelExports } from './filter-kernel.ts';
import type { KernelExports } from './kernel-exports.ts';
import { FILTERS_WASM, KERNELS_WASM } from './kernels.generated.ts';
import { Kernels } from './kernels.ts';

/** The part of the WebAssembly API in use: its types belong to the browser's library, which Node's lack. */
interface WebAssemblyApi {
  instantiate(wasm: Uint8Array): Promise<{ instance: { exports: unknown } }>;
  readonly Module: new (wasm: Uint8Array) => object;
  readonly Memory: new (size: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
  readonly Instance: new (module: object, imports: { env: object }) => { readonly exports: unknown };
}

/**
 * Compiles the kernels; once, at start. Each thread opens its own.
 * Throws UnsupportedError where WebAssembly or its SIMD instructions are missing: `twinHashFunctions` and
 * `twinKeyHash` do without.
 */
export async function openKernels(): Promise<Kernels> {
  const api = (globalThis as { WebAssembly?: WebAssemblyApi }).WebAssembly;
  if (api === undefined) throw new UnsupportedError('webassembly', 'missing', 'there is no WebAssembly here');
  try {
    const { instance } = await api.instantiate(decodeBase64(KERNELS_WASM));
    return new Kernels(instance.exports as KernelExports, openFilterKernel(api));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UnsupportedError('webassembly', 'simd', `the kernels cannot be compiled: ${why}`);
  }
}

/** Most runs build no filter: the module is compiled by the first that does, in less than a millisecond. */
function openFilterKernel(api: WebAssemblyApi): FilterKernel {
  let module: object | undefined;
  return new FilterKernel((pages) => {
    module ??= new api.Module(decodeBase64(FILTERS_WASM));
    const memory = new api.Memory({ initial: pages, maximum: pages });
    const { exports } = new api.Instance(module, { env: { memory } });
    return { buffer: memory.buffer, exports: exports as FilterKernelExports };
  });
}

function decodeBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
