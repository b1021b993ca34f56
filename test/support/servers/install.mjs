/** `npm run servers:install`: fetches in advance what the tests would fetch when they need it. */
import { messageOf, MissingServerError } from './errors.mjs';
import { run } from './process/run.mjs';
import { recipes } from './recipes/index.mjs';
import { findPrivate } from './steps/private.mjs';
import { bringChromium } from './tools/chromium.mjs';
import { folderOf, shortFolderOf } from './unpacked.mjs';

for (const recipe of recipes) {
  try {
    const { program } = await findPrivate(recipe, console.log);
    console.log(await describe(recipe, program));
  } catch (error) {
    console.error(messageOf(error));
    process.exitCode = 1;
  }
}

const chromium = await bringChromium({ log: console.log });
if ('file' in chromium) console.log(`Chromium: ${chromium.file}`);
else {
  console.error(new MissingServerError([chromium.missing]).message);
  process.exitCode = 1;
}

/** @param {import('./types.mjs').Recipe} recipe @param {import('./types.mjs').Program} program */
async function describe(recipe, { file, args, root, version, place = args.at(-1) ?? file }) {
  if (!root) return `${recipe.label} ${version} is on this machine: ${place}`;
  const [kilobytes] = (await run('du', ['-sk', folderOf(recipe)])).split('\t');
  return `${recipe.label} ${version} is in ${shortFolderOf(recipe)} (${Math.round(Number(kilobytes) / 1024)} MB)`;
}
