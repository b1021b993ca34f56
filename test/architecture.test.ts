import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { MAY_IMPORT } from './dependency-rule';

const folderOf = (path: string): string =>
  Object.keys(MAY_IMPORT).find((folder) => path === folder || path.startsWith(`${folder}/`)) ?? path;

function forbiddenImports(file: string, text: string): string[] {
  const specifiers = [...text.matchAll(/(?:from\s+|import\s+|require\(\s*)'([^']+)'/g)].map(
    ([, name = '']) => name,
  );
  const imported = specifiers.map((specifier) =>
    specifier.startsWith('.') ? folderOf(normalize(join(dirname(file), specifier))) : specifier,
  );
  const allowed = [folderOf(file), ...(MAY_IMPORT[folderOf(file)] ?? [])];
  return imported.filter((folder) => !allowed.includes(folder) && !folder.startsWith('node:'));
}

void test('imports point inward, and packages stay in the folders that name them', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  assert.ok(files.length > 50);
  for (const file of files) {
    assert.deepEqual(forbiddenImports(file, readFileSync(join('src', file), 'utf8')), [], file);
  }
});

void test('a planted import is found', () => {
  for (const planted of ["from '../guard'", "from 'typeorm'", "import '../storage/sql/dialects/mysql'"]) {
    assert.equal(forbiddenImports('core/clock.ts', planted).length, 1, planted);
  }
});
