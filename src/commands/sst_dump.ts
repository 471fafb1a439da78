import { DropInCommand } from '../base-command.ts';
import type { ExitStatus } from '../exit-status.ts';

export default class SstDump extends DropInCommand {
  static override summary = "RocksDB's sst_dump: its flags and its text";
  static override description =
    'Prints what sst_dump of RocksDB 11.9 (--compat=7.8: of 7.8.3) prints. Differences: damage gives a status other ' +
    'than 0 and does not end the output, raw dumps go to the current directory, all checksums are compared. ' +
    '`sstkit sst_dump --help` lists the flags.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --file=demo:basic.sst --command=scan --output_hex --read_num=5',
    '<%= config.bin %> <%= command.id %> demo:basic.sst --command=identify --show_properties --list_meta_blocks',
    '<%= config.bin %> <%= command.id %> demo:tombstones.sst --command=raw --show_sequence_number_type',
    '<%= config.bin %> <%= command.id %> demo:basic.sst --command=verify --compat=7.8',
    '<%= config.bin %> <%= command.id %> demo:basic.sst --command=recompress --compression_types=kSnappyCompression,kZSTD',
  ];

  protected override async runDropIn(argv: readonly string[]): Promise<ExitStatus> {
    const { sstDump } = await import('../compat/sst-dump/program.ts');
    return sstDump(argv, this.host, this.config.version);
  }
}
