import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ended } from '../support/processes/command';
import { Project } from '../package/project';
import { ALL_PACKAGES, SUBPATHS } from '../package/subpaths';
import { pack } from '../package/tarball';
import { withoutExpectations } from './diagnostics';

export const MODES = ['legacy', 'standard'] as const;
export type Mode = (typeof MODES)[number];

const OPTIONS = { strict: true, target: 'es2022', module: 'nodenext', skipLibCheck: false, types: ['node'] };

/** `*.types.ts` below `test`; those below a folder `standard` are for standard decorators alone. */
const SOURCES: ReadonlyMap<string, string> = new Map(
  readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.types.ts'))
    .map((name) => [name, readFileSync(join('test', name), 'utf8')]),
);

export function sourcesFor(mode: Mode): [name: string, source: string][] {
  return [...SOURCES].filter(([name]) => mode === 'standard' || !name.split(/[\\/]/).includes('standard'));
}

/**
 * An application that imports all subpaths, and holds each source twice: as it is, and without the
 * directives.
 */
export async function typesProject(): Promise<Project> {
  const project = new Project();
  await project.install((await pack()).file);
  for (const name of ALL_PACKAGES) project.link(name);
  for (const [name, source] of SOURCES) {
    project.write(join('right', name), source);
    project.write(join('wrong', name), withoutExpectations(source));
  }
  const imports = SUBPATHS.map(({ specifier }, i) => `export * as subpath${i} from '${specifier}';\n`);
  project.write('imports.ts', imports.join(''));
  for (const mode of MODES) writeConfiguration(project, mode);
  return project;
}

export function compile(project: Project, compiler: string, mode: Mode): Promise<Ended> {
  const tsc = join(compiler, 'bin/tsc');
  return project.node(tsc, '--project', `tsconfig.${mode}.json`, '--noEmit', '--pretty', 'false');
}

function writeConfiguration(project: Project, mode: Mode): void {
  const compilerOptions = { ...OPTIONS, experimentalDecorators: mode === 'legacy' };
  const sources = sourcesFor(mode).flatMap(([name]) => [`right/${name}`, `wrong/${name}`]);
  project.write(
    `tsconfig.${mode}.json`,
    JSON.stringify({ compilerOptions, files: ['imports.ts', ...sources] }),
  );
}
