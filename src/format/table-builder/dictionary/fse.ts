import { BitWriter } from './bit-writer.ts';

/**
 * Finite state entropy, as far as a dictionary's tables need it.
 * Source: RFC 8878, section 4.1.
 */

/** A share below one cell of the table: it takes a cell all the same, at the dearest price. */
const LESS_THAN_ONE = -1;

/** The shares of symbols in a table of 2^log cells; each symbol of a count above 0 has one. */
export function normalizeCounts(counts: ArrayLike<number>, log: number): Int16Array {
  const size = 2 ** log;
  const shares = new Int16Array(counts.length);
  let total = 0;
  for (let i = 0; i < counts.length; i++) total += counts[i]!;
  let used = 0;
  let largest = 0;
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i]!;
    if (count === 0) continue;
    const exact = (count * size) / total;
    shares[i] = exact < 1 ? LESS_THAN_ONE : Math.round(exact);
    used += Math.abs(shares[i]!);
    if (count > counts[largest]!) largest = i;
  }
  // What rounding left over or took too much is settled where it changes a share the least.
  while (used > size) {
    let victim = largest;
    for (let i = 0; i < shares.length; i++) if (shares[i]! > shares[victim]!) victim = i;
    const less = Math.max(1, Math.min(used - size, shares[victim]! >> 2));
    shares[victim]! -= less;
    used -= less;
  }
  shares[largest]! += size - used;
  return shares;
}

/** The description of a table, as it stands before what is coded with it. Section 4.1.1. */
export function encodeTableDescription(shares: Int16Array, log: number): number[] {
  const bits = new BitWriter();
  bits.add(log - 5, 4);
  let remaining = 2 ** log + 1;
  let threshold = 2 ** log;
  let width = log + 1;
  for (let symbol = 0; symbol < shares.length && remaining > 1; ) {
    const share = shares[symbol++]!;
    // Values up to `max` are unambiguous with one bit less.
    const max = 2 * threshold - 1 - remaining;
    remaining -= Math.abs(share);
    let value = share + 1;
    if (value >= threshold) value += max;
    bits.add(value, value < max ? width - 1 : width);
    while (remaining < threshold) {
      width--;
      threshold /= 2;
    }
    if (share !== 0) continue;
    // Zeros that follow a zero are counted, two bits for up to three of them.
    let zeros = 0;
    while (symbol + zeros < shares.length && shares[symbol + zeros] === 0) zeros++;
    symbol += zeros;
    for (; zeros >= 3; zeros -= 3) bits.add(3, 2);
    bits.add(zeros, 2);
  }
  return bits.finish();
}

interface EncodingTable {
  readonly log: number;
  /** States, symbol by symbol; as numbers from 2^log on. */
  readonly states: Uint16Array;
  readonly firstState: Int32Array;
  /** Shares, "less than one" counted as one. */
  readonly cells: Int32Array;
}

/** Symbols coded with these shares, by two states in turn. Read backwards by a decoder. Section 4.2.1.2. */
export function encodeSymbols(symbols: ArrayLike<number>, shares: Int16Array, log: number): number[] {
  const table = encodingTable(shares, log);
  const bits = new BitWriter();
  const states = [-1, -1];
  for (let i = symbols.length - 1; i >= 0; i--) {
    const symbol = symbols[i]!;
    const state = states[i & 1]!;
    states[i & 1] = state < 0 ? firstStateOf(table, symbol) : nextState(table, bits, state, symbol);
  }
  bits.add(states[1]!, log);
  bits.add(states[0]!, log);
  return bits.finishMarked();
}

/** The state that a decoder will be in for the last symbol: any of its states does, the cheapest is taken. */
function firstStateOf({ states, firstState }: EncodingTable, symbol: number): number {
  return states[firstState[symbol]!]!;
}

/** Writes the low bits of `state` so that what is left picks a state of `symbol`. */
function nextState(table: EncodingTable, bits: BitWriter, state: number, symbol: number): number {
  const cells = table.cells[symbol]!;
  // Shifting brings the state into [cells, 2 * cells).
  let shift = 0;
  while (state >> shift >= 2 * cells) shift++;
  bits.add(state, shift);
  return table.states[table.firstState[symbol]! + (state >> shift) - cells]!;
}

function encodingTable(shares: Int16Array, log: number): EncodingTable {
  const size = 2 ** log;
  const cellSymbols = spreadSymbols(shares, size);
  const cells = new Int32Array(shares.length);
  const firstState = new Int32Array(shares.length);
  let start = 0;
  for (let symbol = 0; symbol < shares.length; symbol++) {
    cells[symbol] = Math.abs(shares[symbol]!);
    firstState[symbol] = start;
    start += cells[symbol]!;
  }
  const states = new Uint16Array(size);
  const filled = firstState.slice();
  for (let cell = 0; cell < size; cell++) states[filled[cellSymbols[cell]!]!++] = size + cell;
  return { log, states, firstState, cells };
}

/** Which symbol each cell of the table belongs to. Section 4.1.1. */
function spreadSymbols(shares: Int16Array, size: number): Uint8Array {
  const symbols = new Uint8Array(size);
  let high = size - 1;
  for (let symbol = 0; symbol < shares.length; symbol++) {
    if (shares[symbol] === LESS_THAN_ONE) symbols[high--] = symbol;
  }
  const step = (size >> 1) + (size >> 3) + 3;
  let cell = 0;
  for (let symbol = 0; symbol < shares.length; symbol++) {
    for (let i = 0; i < shares[symbol]!; i++) {
      symbols[cell] = symbol;
      do cell = (cell + step) & (size - 1);
      while (cell > high);
    }
  }
  return symbols;
}
