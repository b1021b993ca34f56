import { rmSync } from 'node:fs';
import { buildLibrary, install } from './set-up.mjs';

await install();
rmSync('dist', { recursive: true, force: true });
await buildLibrary();
