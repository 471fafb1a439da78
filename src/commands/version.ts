import { SstkitCommand } from '../base-command.ts';
import { ExitStatus } from '../exit-status.ts';
import { commonFlags, formatFlag } from '../flags.ts';
import { describeEnvironment } from '../node/environment.ts';
import { writeJsonDocument } from '../render/json.ts';
import { writeTable } from '../render/table.ts';

export default class Version extends SstkitCommand {
  static override hidden = true;
  static override summary = 'Version of sstkit and of Node; with --verbose also who decodes and who hashes';
  static override flags = { ...commonFlags, format: formatFlag(['text', 'json']) };

  override async run(): Promise<ExitStatus> {
    const { flags } = await this.parse(Version);
    const { version, platform, arch } = this.config;
    const implementations = flags.verbose ? await describeEnvironment() : [];
    if (flags.format === 'json') {
      const node = process.version;
      writeJsonDocument(this.stdout, {
        schema: 1,
        version,
        platform,
        arch,
        node,
        ...(flags.verbose ? { implementations } : {}),
      });
    } else {
      this.stdout.writeLine(`sstkit/${version} ${platform}-${arch} node-${process.version}`);
      const rows = implementations.map(({ name, implementation }) => [name, implementation]);
      writeTable(this.stdout, [{ title: '' }, { title: '' }], rows, { indent: 2 });
    }
    return ExitStatus.ok;
  }
}
