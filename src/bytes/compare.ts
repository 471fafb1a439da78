/** Unsigned bytewise order, a prefix before what it is a prefix of. Negative, zero or positive. */
export function compareBytes(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const shift = bStart - aStart;
  const common = aEnd - aStart < bEnd - bStart ? aEnd : aStart + (bEnd - bStart);
  for (let i = aStart; i < common; i++) {
    const difference = a[i]! - b[i + shift]!;
    if (difference !== 0) return difference;
  }
  return aEnd - aStart - (bEnd - bStart);
}

export function compareArrays(a: Uint8Array, b: Uint8Array): number {
  return compareBytes(a, 0, a.length, b, 0, b.length);
}

export function equalArrays(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && compareArrays(a, b) === 0;
}

export function startsWith(bytes: Uint8Array, start: number, end: number, prefix: Uint8Array): boolean {
  return (
    end - start >= prefix.length &&
    compareBytes(bytes, start, start + prefix.length, prefix, 0, prefix.length) === 0
  );
}
