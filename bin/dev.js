#!/usr/bin/env node
// Builds what has changed, then runs like run.js.
import { ready } from '../scripts/ready.mjs';

ready();
await import('./run.js');
