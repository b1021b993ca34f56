import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { MAY_IMPORT, ROOMS } from './dependency-rule';

const folderOf = (path: string): string =>
  Object.keys(MAY_IMPORT).find((folder) => path === folder || path.startsWith(`${folder}/`)) ?? path;

function importedBy(text: string): string[] {
  return [...text.matchAll(/(?:from\s+|import\s+|require\(\s*)'([^']+)'/g)].map(([, name = '']) => name);
}

function forbiddenImports(file: string, text: string): string[] {
  const imported = importedBy(text).map((specifier) =>
    specifier.startsWith('.') ? folderOf(normalize(join(dirname(file), specifier))) : specifier,
  );
  const allowed = [folderOf(file), ...(MAY_IMPORT[folderOf(file)] ?? [])];
  return imported.filter((folder) => !allowed.includes(folder) && !folder.startsWith('node:'));
}

/** The files of `src` and their texts. */
function sources(): ReadonlyMap<string, string> {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  assert.ok(files.length > 50);
  return new Map(files.map((file) => [file, readFileSync(join('src', file), 'utf8')]));
}

/** @returns the files of one import circle, the first one again at the end; empty if there is none */
function importCircle(texts: ReadonlyMap<string, string>): readonly string[] {
  const finished = new Set<string>();
  const circleFrom = (file: string, path: readonly string[]): readonly string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (finished.has(file)) return [];
    for (const specifier of importedBy(texts.get(file) ?? '')) {
      if (!specifier.startsWith('.')) continue;
      const target = normalize(join(dirname(file), specifier));
      const imported = [`${target}.ts`, `${target}/index.ts`].find((name) => texts.has(name));
      const circle = imported === undefined ? [] : circleFrom(imported, [...path, file]);
      if (circle.length > 0) return circle;
    }
    finished.add(file);
    return [];
  };
  for (const file of texts.keys()) {
    const circle = circleFrom(file, []);
    if (circle.length > 0) return circle;
  }
  return [];
}

void test('imports point inward, and packages stay in the folders that name them', () => {
  for (const [file, text] of sources()) assert.deepEqual(forbiddenImports(file, text), [], file);
});

void test('each runtime dependency is imported in one room', () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object };
  assert.deepEqual(Object.keys(dependencies), ['commander', 'croner']);
  for (const name of Object.keys(dependencies)) {
    const rooms = Object.keys(MAY_IMPORT).filter((room) => MAY_IMPORT[room]?.includes(name));
    assert.deepEqual(rooms, [name === 'croner' ? 'ledger' : 'cli'], name);
  }
});

void test('a planted import is found', () => {
  for (const planted of ["from '../guard'", "from 'typeorm'", "import '../storage/sql/dialects/mysql'"]) {
    assert.equal(forbiddenImports('core/clock.ts', planted).length, 1, planted);
  }
});

/** The imports from other rooms of the same folder that the rows of the folder do not have. */
function importsBetweenRooms(file: string, text: string): string[] {
  const [folder = '', rooms = {}] = Object.entries(ROOMS).find(([name]) => file.startsWith(`${name}/`)) ?? [];
  const roomOf = (path: string): string => path.slice(folder.length + 1).split('/')[0] ?? '';
  const own = roomOf(file);
  if (folder === '' || !own || own.endsWith('.ts')) return [];
  const imported = importedBy(text)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => normalize(join(dirname(file), specifier)));
  return imported.filter(
    (path) => path.startsWith(`${folder}/`) && ![own, ...(rooms[own] ?? [])].includes(roomOf(path)),
  );
}

void test('inside a large folder, each room imports only the rooms below it that its row names', () => {
  for (const [folder, rooms] of Object.entries(ROOMS)) {
    const floors = Object.keys(rooms);
    for (const [floor, room] of floors.entries())
      for (const below of rooms[room] ?? [])
        assert.ok(floors.slice(0, floor).includes(below), `${room}: ${below}`);
    const built = readdirSync(join('src', folder), { withFileTypes: true }).filter((each) =>
      each.isDirectory(),
    );
    assert.deepEqual(new Set(built.map(({ name }) => name)), new Set(floors), folder);
  }
  for (const [file, text] of sources()) assert.deepEqual(importsBetweenRooms(file, text), [], file);
});

void test('a planted import of a room above is found', () => {
  const planted = "import { found } from '../doctor/settings';";
  assert.deepEqual(importsBetweenRooms('storage/sql/connections/proxy-check.ts', planted), [
    'storage/sql/doctor/settings',
  ]);
});

void test('no file imports itself through other files, type imports included', () => {
  assert.deepEqual(importCircle(sources()), []);
});

void test('a planted import circle is found', () => {
  const planted = new Map([
    ['core/clock.ts', "import type { JobGuard } from '../guard';"],
    ['guard/index.ts', "export type { JobGuard } from './job-guard';"],
    ['guard/job-guard.ts', "import { systemClock } from '../core/clock';"],
  ]);
  const circle = ['core/clock.ts', 'guard/index.ts', 'guard/job-guard.ts', 'core/clock.ts'];
  assert.deepEqual(importCircle(planted), circle);
});

void test('the index of the test helpers names each file of test/support, and no other', () => {
  const index = readFileSync('test/support/README.md', 'utf8').matchAll(/`([\w./-]+)` +\|$/gm);
  const entries = [...index].map(([, entry = '']) => entry);
  const files = readdirSync('test/support', { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!README)\.\w+$/.test(name),
  );
  const isNamed = (file: string, entry: string): boolean =>
    entry.endsWith('/') ? file.startsWith(entry) : file === entry;
  assert.deepEqual(
    files.filter((file) => !entries.some((entry) => isNamed(file, entry))),
    [],
  );
  assert.deepEqual(
    entries.filter((entry) => !files.some((file) => isNamed(file, entry))),
    [],
  );
});

void test('a comment that names more tests of a subject names those that exist', () => {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const named = files.flatMap((file) => {
    const [, paths] =
      /^\/\/ More of this subject: (.*)$/m.exec(readFileSync(join('test', file), 'utf8')) ?? [];
    return paths?.split(', ').map((path) => join('test', path)) ?? [];
  });
  assert.ok(named.length > 50);
  assert.deepEqual(
    named.filter((path) => !existsSync(path)),
    [],
  );
});
