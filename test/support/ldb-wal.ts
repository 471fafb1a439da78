/** The text of ldb's dump_wal --header --print_value, from what our reader sees. */

import { readFileSync } from 'node:fs';
import { memorySource } from '../../src/bytes/source.ts';
import { toHex } from '../../src/bytes/text.ts';
import { withPending } from '../../src/errors.ts';
import { decodeWideColumns } from '../../src/format/entry-value.ts';
import { headerSizeOf, LOG_BLOCK_SIZE } from '../../src/format/log/log-format.ts';
import type { LogEnd, LogFault } from '../../src/format/log/log-reader.ts';
import { WalReader } from '../../src/format/wal/wal-reader.ts';
import type { BatchOperation } from '../../src/format/wal/write-batch.ts';
import { bytesOf } from '../bug-cases/table-by-hand.ts';
import { testEnvironment } from './scan.ts';

const HEADER = 'Sequence,Count,ByteSize,Physical Offset,Key(s) : value ';

const hex = (bytes: Uint8Array): string => `0x${toHex(bytes).toUpperCase()}`;

/** ldb does not take timestamps off keys. */
const NO_TIMESTAMP = new Uint8Array(0);

function operationText(operation: BatchOperation): string {
  const { type, columnFamily, key, value, timestamp = NO_TIMESTAMP } = operation;
  const name = type.toUpperCase();
  const whole = bytesOf(key, timestamp);
  switch (type) {
    case 'put':
    case 'merge':
      return `${name}(${columnFamily}) : ${hex(whole)} : ${hex(value)} `;
    case 'delete':
    case 'single_delete':
      return `${name}(${columnFamily}) : ${hex(whole)} `;
    case 'range_delete':
      return `DELETE_RANGE(${columnFamily}) : ${hex(whole)} ${hex(bytesOf(value, timestamp))} `;
    case 'entity': {
      const columns = decodeWideColumns(value, 0, value.length).map((column) => {
        const columnName = column.name.length === 0 ? '' : hex(column.name);
        return `${columnName}:${column.value.length === 0 ? '' : hex(column.value)}`;
      });
      return `PUT_ENTITY(${columnFamily}) : ${hex(whole)} : ${columns.join(' ')} `;
    }
    case 'noop':
      return 'NOOP ';
    case 'log_data':
      return '';
    case 'begin_prepare':
    case 'begin_persisted_prepare':
      return 'BEGIN_PREPARE(false) ';
    case 'begin_unprepare':
      return 'BEGIN_PREPARE(true) ';
    case 'end_prepare':
    case 'commit':
    case 'rollback':
      return timestamp === NO_TIMESTAMP
        ? `${name}(${hex(value)}) `
        : `COMMIT_WITH_TIMESTAMP(${hex(value)}, ${hex(timestamp)}) `;
    default:
      throw new Error(`dump_wal does not print ${type}`);
  }
}

/** Its lines, and what it does not say. */
export interface LdbLines {
  lines: string[];
  faults: LogFault[];
  end: LogEnd;
  types: Set<string>;
  /** Of the log's data records. */
  headerSize: number;
}

export async function ldbLines(file: string): Promise<LdbLines> {
  const environment = await testEnvironment();
  const faults: LogFault[] = [];
  const log = new Uint8Array(readFileSync(file));
  const source = memorySource(log, file);
  const reader = new WalReader(source, environment, (fault) => faults.push(fault));
  const lines = [HEADER];
  const types = new Set<string>();
  let headerSize = 0;
  for (;;) {
    const record = await withPending(() => reader.next());
    if (record === undefined) return { lines, faults, end: reader.end!, types, headerSize };
    if (record.kind !== 'batch') {
      types.add(record.kind);
      continue;
    }
    headerSize = headerSizeOf(log[record.offset + 6]!);
    const { seqno, count, size } = record.batch;
    let line = `${seqno},${count},${size},${record.offset},`;
    for (const operation of reader.operations(record)) {
      types.add(operation.type);
      line += operationText(operation);
    }
    lines.push(line);
  }
}

/**
 * Without what ldb 11.9 says behind the records. Where a header does not fit into the rest of a block, ldb gives the
 * place of the filler there; ours is that of the header.
 */
export function recordLines(text: string, headerSize: number): string[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('(Column family id:'))
    .map((line) =>
      line.replace(/^(\d+,\d+,\d+,)(\d+)/, (_, before: string, offset: string) => {
        const left = LOG_BLOCK_SIZE - (Number(offset) % LOG_BLOCK_SIZE);
        return `${before}${left < headerSize ? Number(offset) + left : offset}`;
      }),
    );
}
