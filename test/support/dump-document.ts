/** Documents of `dump --json`, and their schema. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { PROJECT_ROOT } from './cli.ts';

const ajv = new Ajv2020({ allErrors: false, strict: true, strictTypes: false, strictRequired: false });
const isDocument = ajv.compile(
  JSON.parse(readFileSync(path.join(PROJECT_ROOT, 'schema/dump.schema.json'), 'utf8')),
);

/** The document, which keeps to the schema. */
// biome-ignore lint/suspicious/noExplicitAny: the schema says what is in it
export function parseDumpDocument(text: string | Buffer): any {
  const document = JSON.parse(text.toString());
  if (!isDocument(document)) expect.fail(ajv.errorsText(isDocument.errors));
  return document;
}
