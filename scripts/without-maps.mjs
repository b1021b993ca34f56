/**
 * node scripts/without-maps.mjs FOLDER: removes the source maps of a build, and the comments that lead to them. The
 * package has no sources. Bundlers and debuggers would warn of a comment that leads to a missing map.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [, , folder] = process.argv;
const COMMENT = /\n\/\/# sourceMappingURL=\S+\s*$/;

for (const name of readdirSync(folder, { recursive: true })) {
  const file = join(folder, name);
  if (/\.(js|d\.ts)\.map$/.test(name)) rmSync(file);
  if (!/\.(js|d\.ts)$/.test(name)) continue;
  const text = readFileSync(file, 'utf8');
  if (COMMENT.test(text)) writeFileSync(file, text.replace(COMMENT, '\n'));
}
