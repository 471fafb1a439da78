import { cpus, totalmem } from 'node:os';

/** What a measurement has to say of the machine that it was made on. */
export interface MachineFacts {
  cpu: string;
  cores: number;
  memoryBytes: number;
  platform: string;
  node: string;
}

export function machineFacts(): MachineFacts {
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryBytes: totalmem(),
    platform: `${process.platform}-${process.arch}`,
    node: process.version,
  };
}
