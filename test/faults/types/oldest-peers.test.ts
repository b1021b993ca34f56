import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { Project } from '../../package/project';
import { SUBPATHS } from '../../package/subpaths';
import { pack } from '../../package/tarball';
import { moduleOf, useName } from '../../package/use';
import { installed } from '../../support/processes/installed';
import { diagnosticsOf } from '../../types/diagnostics';

const FOLDER = 'test/oldest-peers';
const COMPILER = resolve('node_modules/typescript/bin/tsc');
const COMPILER_OPTIONS = {
  ...{ module: 'nodenext', target: 'es2022', types: ['node'], esModuleInterop: true },
  ...{ strict: true, noEmit: true, skipLibCheck: false },
};

void test('the declarations compile with the oldest version of each peer', async () => {
  using project = new Project();
  await project.install((await pack()).file);
  const { peerDependencies } = manifestIn('.');
  const { dependencies: oldest = {} } = manifestIn(FOLDER);
  const home = await installed(FOLDER);
  for (const name of Object.keys(peerDependencies ?? {}))
    project.link(name, Object.hasOwn(oldest, name) ? home : undefined);
  for (const types of ['node', 'pg', 'better-sqlite3']) project.link(`@types/${types}`);
  const files = SUBPATHS.map((subpath) => `${useName(subpath)}.mts`);
  for (const subpath of SUBPATHS) project.write(`${useName(subpath)}.mts`, moduleOf(subpath));
  project.write('tsconfig.json', JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files }));
  const { stdout } = await project.node(COMPILER, '--pretty', 'false');
  // Nest 10 has errors in its own declarations. TypeScript names packages that are linked by their real path.
  const ours = diagnosticsOf(stdout).filter(({ file }) => !file.startsWith('../'));
  assert.deepEqual(ours, []);
});

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
