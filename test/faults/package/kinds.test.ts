import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { installed } from '../../support/processes/installed';
import { PROJECT_KINDS, type ProjectKind, type Tool } from '../../package/kinds';
import { Places } from '../../package/places';
import type { Project } from '../../package/project';
import { SUBPATHS } from '../../package/subpaths';
import { pack } from '../../package/tarball';

const MANIFEST = 'node_modules/cronlatch/package.json';
const LOST = 'dist/lost';
const NODE: Tool = { name: 'Node', family: 'Node', path: process.execPath };
const places = new Places();

before(async () => {
  await places.link((await pack()).file);
  const projects = new Set([places.bare, places.whole, ...SUBPATHS.map((subpath) => places.typed(subpath))]);
  for (const project of projects) lose(project, './memory');
});

after(() => places[Symbol.dispose]());

for (const kind of PROJECT_KINDS) {
  void test(`${kind.name}: a subpath that leads to a missing file fails`, async () => {
    const failures = await kind.failures(kind.family === 'Node' ? NODE : await compilerFor(kind), places);
    const failed = [...failures].map(([{ specifier }]) => specifier);
    assert.ok(failed.includes('cronlatch/memory'), `failed: ${failed.join(', ')}`);
    assert.match([...failures.values()].join('\n'), /lost|memory/);
    assert.ok(
      !failed.includes('cronlatch') || kind.name === 'both in one process',
      failures.values().next().value,
    );
  });
}

void test('both in one process: two copies of the library fail', async () => {
  const { bare } = places;
  const { exports, ...manifest } = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: object };
  cpSync('dist', join(bare.folder, 'node_modules/cronlatch/copy'), { recursive: true });
  const twice = { import: './copy/index.js', require: './dist/index.js' };
  bare.write(MANIFEST, JSON.stringify({ ...manifest, exports: { ...exports, '.': twice } }));
  const kind = PROJECT_KINDS.find(({ name }) => name === 'both in one process');
  const failures = await kind?.failures(NODE, places);
  const [main] = SUBPATHS.filter(({ key }) => key === '.');
  assert.match((main && failures?.get(main)) ?? '', /AssertionError/);
});

/** The fastest tool that can have such projects. */
async function compilerFor({ without = [] }: ProjectKind): Promise<Tool> {
  const version = without.includes('TS 7.0') ? '6.0' : '7.0';
  const path = join(await installed('test/types/compilers'), `typescript-${version}`, 'bin/tsc');
  return { name: `TS ${version}`, family: 'TypeScript', path };
}

/** Makes a subpath lead to files that do not exist. */
function lose(project: Project, key: string): void {
  const manifest = JSON.parse(readFileSync(join(project.folder, MANIFEST), 'utf8')) as {
    exports: Record<string, unknown>;
    typesVersions: { '*': Record<string, unknown> };
  };
  manifest.exports[key] = { types: `./${LOST}.d.ts`, default: `./${LOST}.js` };
  manifest.typesVersions['*'][key.slice(2)] = [`./${LOST}.d.ts`];
  project.write(MANIFEST, JSON.stringify(manifest));
}
