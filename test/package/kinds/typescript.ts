import { diagnosticsOf } from '../../types/diagnostics';
import type { Project } from '../project';
import { SUBPATHS, type Subpath } from '../subpaths';
import { moduleOf, useName } from '../use';
import type { Failure, ProjectKind, Tool } from './kind';

const OPTIONS = { strict: true, target: 'es2022', skipLibCheck: false, esModuleInterop: true, noEmit: true };

/** The declarations of pg themselves. With an older compiler, an application that uses pg needs `skipLibCheck`. */
const NEEDS_TYPESCRIPT_5_7 = /^node_modules\/pg-protocol\/.*\n?/gm;

type Options = Readonly<Record<string, unknown>>;

/** How compilers find declarations. All of them are checked: `skipLibCheck` is off. */
export const TYPESCRIPT_KINDS: readonly ProjectKind[] = [
  resolutionKind('types: node16', ['mts', 'cts'], () => ({ module: 'node16' })),
  resolutionKind('types: nodenext', ['mts', 'cts'], () => ({ module: 'nodenext' })),
  resolutionKind('types: bundler', ['ts'], () => ({ module: 'esnext', moduleResolution: 'bundler' })),
  {
    ...resolutionKind('types: node10', ['ts'], (tool) => ({
      module: 'commonjs',
      moduleResolution: 'node10',
      ...(tool.name === 'TS 6.0' ? { ignoreDeprecations: '6.0' } : {}),
    })),
    without: ['TS 7.0'], // TypeScript 7.0 has removed this resolution.
  },
  {
    name: 'types: only its peers',
    family: 'TypeScript',
    async failures(tool, places) {
      const failures = new Map<Subpath, Failure>();
      for (const subpath of SUBPATHS) {
        const project = places.typed(subpath);
        const file = `${useName(subpath)}.alone.mts`;
        project.write(file, `export * from '${subpath.specifier}';\n`);
        const types = [...subpath.peers, ...subpath.typePeers].length === 0 ? [] : ['node'];
        const output = await compile(tool, project, { module: 'nodenext', types }, [file]);
        if (output !== '') failures.set(subpath, output);
      }
      return failures;
    },
  },
];

function resolutionKind(
  name: string,
  extensions: readonly string[],
  optionsFor: (tool: Tool) => Options,
): ProjectKind {
  return {
    name,
    family: 'TypeScript',
    async failures(tool, { whole }) {
      const folder = name.replace('types: ', '');
      const fileOf = (subpath: Subpath, extension: string): string =>
        `${folder}/${useName(subpath)}.${extension}`;
      const filesOf = (subpath: Subpath): string[] =>
        extensions.map((extension) => fileOf(subpath, extension));
      for (const subpath of SUBPATHS) {
        for (const file of filesOf(subpath)) whole.write(file, moduleOf(subpath));
      }
      const options = { types: ['node'], ...optionsFor(tool) };
      const output = await compile(tool, whole, options, SUBPATHS.flatMap(filesOf));
      return failuresIn(output, filesOf);
    },
  };
}

/** An error without a file, or in a declaration, fails all subpaths. */
function failuresIn(output: string, filesOf: (subpath: Subpath) => string[]): Map<Subpath, Failure> {
  const diagnostics = diagnosticsOf(output);
  const known = SUBPATHS.flatMap(filesOf);
  const failures = new Map<Subpath, Failure>();
  for (const subpath of SUBPATHS) {
    const files = filesOf(subpath);
    const own = diagnostics.filter(({ file }) => files.includes(file) || !known.includes(file));
    if (own.length > 0) failures.set(subpath, own.map(({ text }) => text).join('\n'));
  }
  return failures;
}

async function compile(tool: Tool, project: Project, options: Options, files: string[]): Promise<string> {
  const configuration = `tsconfig.${tool.name.replace(' ', '-')}.json`;
  project.write(configuration, JSON.stringify({ compilerOptions: { ...OPTIONS, ...options }, files }));
  const { stdout, stderr } = await project.node(tool.path, '--project', configuration, '--pretty', 'false');
  const output = `${stdout}${stderr}`;
  return tool.name === 'TS 5.4' ? output.replace(NEEDS_TYPESCRIPT_5_7, '') : output;
}
