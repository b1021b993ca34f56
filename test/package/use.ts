import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Subpath } from './subpaths';

/** The base name of a subpath's files. */
export function useName({ specifier }: Subpath): string {
  return specifier.split('/').at(-1) ?? specifier;
}

/** A module that imports a subpath and exports `use`, which uses it: TypeScript that is also JavaScript. */
export function moduleOf(subpath: Subpath): string {
  const file = join('test/package/uses', `${useName(subpath)}.ts`);
  return existsSync(file) ? readFileSync(file, 'utf8') : onlyLoading(subpath);
}

/** The same with `require`. */
export function commonModuleOf(subpath: Subpath): string {
  return moduleOf(subpath)
    .replaceAll(/^import \* as (\w+) from '(.+)';$/gm, `const $1 = require('$2');`)
    .replaceAll(/^import (\w+|\{[^}]+\}) from '(.+)';$/gm, `const $1 = require('$2');`)
    .replaceAll('export async function', 'async function');
}

/** For a subpath without a written use. */
function onlyLoading({ specifier }: Subpath): string {
  return [
    `import assert from 'node:assert/strict';`,
    `import * as subpath from '${specifier}';`,
    `export async function use() {`,
    `  assert.ok(await Promise.resolve(Object.keys(subpath).length > 0));`,
    `}`,
    ``,
  ].join('\n');
}
