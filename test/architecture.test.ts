import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { test } from 'node:test';

/** Which folders of `src` a folder may import from, and which packages. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  guard: ['core'],
  decorator: ['core', 'guard'],
  'storage/memory': ['core'],
  'storage/sql': ['core'],
  'storage/typeorm': ['core', 'storage/sql', 'typeorm'],
  'integrations/typeorm': ['core', 'guard', 'storage/typeorm', 'typeorm'],
  'integrations/node-cron': ['core', 'guard', 'decorator', 'node-cron'],
  testing: ['core', 'guard', 'storage/memory'],
  'index.ts': ['core', 'guard', 'decorator'],
};

const folderOf = (path: string): string =>
  Object.keys(MAY_IMPORT).find((folder) => `${path}${sep}`.startsWith(`${folder}${sep}`)) ?? path;

function forbiddenImports(file: string, text: string): string[] {
  const imported = [...text.matchAll(/(?:from|import|require\()\s*'([^']+)'/g)].map(
    ([, specifier = '']) => specifier,
  );
  const folders = imported.map((specifier) =>
    specifier.startsWith('.') ? folderOf(normalize(join(dirname(file), specifier))) : specifier,
  );
  const allowed = [folderOf(file), ...(MAY_IMPORT[folderOf(file)] ?? [])];
  return folders.filter((folder) => !allowed.includes(folder) && !folder.startsWith('node:'));
}

void test('imports point inward, and packages stay in the folders that name them', () => {
  const files = readdirSync('src', { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.ts'));
  assert.ok(files.length > 50);
  for (const file of files)
    assert.deepEqual(forbiddenImports(file, readFileSync(join('src', file), 'utf8')), [], file);
});

void test('a planted import is found', () => {
  for (const planted of ["from '../guard'", "from 'typeorm'", "import '../storage/sql/dialects/mysql'"]) {
    assert.equal(forbiddenImports('core/clock.ts', planted).length, 1, planted);
  }
});
