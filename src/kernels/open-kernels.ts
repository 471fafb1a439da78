import { UnsupportedError } from '../errors.ts';
import type { KernelExports } from './kernel-exports.ts';
import { KERNELS_WASM } from './kernels.generated.ts';
import { Kernels } from './kernels.ts';

/** The part of the WebAssembly API in use: its types belong to the browser's library, which Node's lack. */
interface WebAssemblyApi {
  instantiate(wasm: Uint8Array): Promise<{ instance: { exports: unknown } }>;
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
    return new Kernels(instance.exports as KernelExports);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UnsupportedError('webassembly', 'simd', `the kernels cannot be compiled: ${why}`);
  }
}

function decodeBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
