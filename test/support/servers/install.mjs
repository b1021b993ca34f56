/** `npm run servers:install`: fetches in advance what the tests would fetch when they need it. */
import { messageOf } from './errors.mjs';
import { fetchServer } from './fetch/index.mjs';
import { run } from './process/run.mjs';
import { recipes } from './recipes/index.mjs';
import { findUnpacked } from './steps/private.mjs';
import { folderOf, shortFolderOf } from './unpacked.mjs';

for (const recipe of recipes) {
  try {
    console.log(await install(recipe));
  } catch (error) {
    console.error(messageOf(error));
    process.exitCode = 1;
  }
}

/** @param {import('./types.mjs').Recipe} recipe */
async function install(recipe) {
  const reasons = [];
  for (const [step, find] of /** @type {const} */ ([
    ['binary', () => recipe.find()],
    ['.servers', () => findUnpacked(recipe)],
    ['fetch', () => fetchServer(recipe, console.log).then(() => findUnpacked(recipe))],
  ])) {
    try {
      return await describe(recipe, await find());
    } catch (error) {
      reasons.push(`${step}: ${messageOf(error)}`);
    }
  }
  throw new Error(
    [`${recipe.label} is not available:`, ...reasons.map((reason) => `  - ${reason}`)].join('\n'),
  );
}

/** @param {import('./types.mjs').Recipe} recipe @param {import('./types.mjs').Program} program */
async function describe(recipe, { file, args, root, version }) {
  if (!root) return `${recipe.label} ${version} is on this machine: ${args.at(-1) ?? file}`;
  const [kilobytes] = (await run('du', ['-sk', folderOf(recipe)])).split('\t');
  return `${recipe.label} ${version} is in ${shortFolderOf(recipe)} (${Math.round(Number(kilobytes) / 1024)} MB)`;
}
