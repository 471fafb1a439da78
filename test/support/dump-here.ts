import { runHere } from '../bug-cases/run-here.ts';
import { parseDumpDocument } from './dump-document.ts';

/** `dump` in this process, in `cwd`; with `json` its document, which keeps to the schema. */
export function dumpHere(cwd: () => string) {
  const text = (...args: string[]) => runHere(['dump', ...args], { cwd: cwd() });
  const json = async (...args: string[]) => {
    const { status, stdout, stderr } = await text('--json', ...args);
    return { status, document: parseDumpDocument(stdout), stderr };
  };
  return { text, json };
}
