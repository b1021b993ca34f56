import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { npm, run } from './run.mjs';

/** The tests of the query builders, one folder per project. */
const SOURCES = join('test', 'adapters');

export const ADAPTER_PROJECTS = ['builders', 'prisma'];

/**
 * Installs the query builders of a project, and compiles its tests against them and the built library. Node and
 * TypeScript find all other packages above, in the project's own.
 *
 * @param {'builders' | 'prisma'} project
 */
export async function buildAdapters(project) {
  const folder = join('.build', 'adapters', project);
  const sources = join(SOURCES, project);
  await install(sources, folder);
  const copy = join(folder, 'test');
  rmSync(copy, { recursive: true, force: true });
  for (const path of [
    SOURCES,
    join('test', 'support'),
    join('test', 'docs', 'query-builders'),
    'tsconfig.base.json',
  ])
    cpSync(path, join(folder, path), { recursive: true });
  // Beside the generated client of Prisma.
  for (const file of ['drizzle.module.ts', 'prisma.module.ts'])
    cpSync(
      join('test', 'docs', 'nestjs', 'page', file),
      join(folder, 'test', 'docs', 'query-builders', file),
    );
  if (project === 'prisma') await generate(folder);
  await run(process.execPath, ['node_modules/typescript/bin/tsc', '--project', join(folder, sources)]);
}

/** The folder of the compiled tests of a project. */
export function adapterTests(project) {
  return join('.build', 'adapters', project, 'compiled', 'test');
}

async function install(sources, folder) {
  const lock = readFileSync(join(sources, 'package-lock.json'));
  const wanted = createHash('sha256').update(lock).digest('hex');
  const stamp = join(folder, '.installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  mkdirSync(folder, { recursive: true });
  for (const file of ['.npmrc', 'package.json', 'package-lock.json'])
    cpSync(join(sources, file), join(folder, file));
  await npm(['ci', '--ignore-scripts'], { cwd: folder });
  symlinkSync(resolve('.'), join(folder, 'node_modules', 'cronlatch'), 'junction');
  writeFileSync(stamp, wanted);
}

/** The schema engine is a binary that only migrations need. */
async function generate(folder) {
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', CHECKPOINT_DISABLE: '1' };
  const schemas = ['mysql', 'postgresql'].map((name) => join('test', 'adapters', 'prisma', `${name}.prisma`));
  for (const schema of schemas)
    await run(
      process.execPath,
      ['node_modules/prisma/build/index.js', 'generate', '--no-hints', '--schema', schema],
      {
        cwd: folder,
        env,
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
}
