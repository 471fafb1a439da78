import { expect, test } from 'vitest';
import { MemorySink } from '../render/sink.ts';
import { TextPutter } from '../render/text-putter.ts';
import { openKernels } from './open-kernels.ts';

const SCALE = Number(process.env.SSTKIT_TEST_SCALE ?? 1);
const SEED = 20_261_201;

const { text: kernel } = await openKernels();

function createRandom(seed: number): (below: number) => number {
  let x = seed | 0;
  return (below) => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) % below;
  };
}

/** Runs of printable and of any bytes, with backslashes and what looks like hexadecimal. */
function sample(random: (below: number) => number): Uint8Array {
  const bytes = new Uint8Array(random(3000));
  for (let i = 0; i < bytes.length; ) {
    const any = random(3) === 0;
    for (let left = random(60); left >= 0 && i < bytes.length; left--) {
      bytes[i++] = any ? random(256) : random(20) === 0 ? 0x5c : 0x20 + random(0x60);
    }
  }
  bytes.set(new TextEncoder().encode(['0x', 'hex:', '\\x', ''][random(4)]!).subarray(0, bytes.length));
  return bytes;
}

test.each(['hex', 'hexUpper', 'escaped', 'keyHex', 'keyHexUpper', 'keyEscaped'] as const)(
  '%s prints what the loops print',
  (what) => {
    const random = createRandom(SEED ^ what.length);
    const sink = new MemorySink();
    const putter = new TextPutter(sink, kernel);
    expect(sink.buffer).toBe(kernel.buffer);
    const twin = new MemorySink(20_000);
    const loops = new TextPutter(twin, undefined);
    for (let round = 0; round < 200 * SCALE; round++) {
      const data = sample(random);
      const start = random(data.length + 1);
      const end = start + random(Math.min(what.startsWith('key') ? 65 : 5000, data.length - start + 1));
      const after = putter[what](7, data, start, end);
      expect(loops[what](7, data, start, end)).toBe(after);
      const same = Buffer.compare(sink.buffer.subarray(7, after), twin.buffer.subarray(7, after)) === 0;
      expect(same, `seed ${SEED}, round ${round}`).toBe(true);
    }
  },
);

test('a block that is too long for the kernel goes through the loops', () => {
  const sink = new MemorySink();
  const putter = new TextPutter(sink, kernel);
  const data = new Uint8Array(200_000).fill(0x61);
  expect(kernel.place(data)).toBe(false);
  expect(putter.hex(0, data, 199_900, 200_000)).toBe(200);
  expect(new TextDecoder().decode(sink.buffer.subarray(0, 6))).toBe('616161');
});

test('reads back the digits that it prints, of both cases, and refuses what is none', () => {
  const random = createRandom(SEED + 1);
  const digits = new MemorySink(20_000);
  const loops = new TextPutter(digits, undefined);
  const out = new Uint8Array(3000);
  for (let round = 0; round < 200 * SCALE; round++) {
    const data = sample(random);
    const end =
      round % 2 === 0 ? loops.hex(5, data, 0, data.length) : loops.hexUpper(5, data, 0, data.length);
    expect(kernel.unhex(digits.buffer, 5, end, out), `seed ${SEED + 1}, round ${round}`).toBe(true);
    expect(Buffer.compare(out.subarray(0, data.length), data), `seed ${SEED + 1}, round ${round}`).toBe(0);
    if (data.length === 0) continue;
    const at = 5 + random(end - 5);
    digits.buffer[at] = [0x2f, 0x3a, 0x40, 0x47, 0x60, 0x67, 0x00, 0x20, 0xb0, 0xff][random(10)]!;
    expect(kernel.unhex(digits.buffer, 5, end, out), `seed ${SEED + 1}, round ${round}, digit ${at}`).toBe(
      false,
    );
  }
});
