import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NPM, succeeding } from '../support/processes/command';

/** The package as it would be published. */
export interface Tarball {
  readonly file: string;
  readonly size: number;
  readonly unpackedSize: number;
  /** Paths in the package. */
  readonly paths: readonly string[];
}

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

interface Dependent {
  readonly dependencies?: object;
  readonly optionalDependencies?: object;
}

/** Packs a copy of the existing build: building again would remove `dist` while other tests use it. */
export async function pack(): Promise<Tarball> {
  const folder = temporaryFolder();
  const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: readonly string[] };
  for (const name of [
    'package.json',
    'README.md',
    'LICENSE',
    ...files.filter((name) => !name.startsWith('!')),
  ])
    cpSync(name, join(folder, name), { recursive: true });
  await succeeding(process.execPath, ['scripts/without-maps.mjs', join(folder, 'dist')], process.cwd());
  return await packFolder(folder);
}

/** The packages that the library depends on, and theirs, packed, so that it can be installed without a registry. */
export async function packDependencies(): Promise<readonly string[]> {
  const packed = [...new Set(dependenciesOf('.'))].map((folder) => packFolder(`./${folder}`));
  return (await Promise.all(packed)).map(({ file }) => file);
}

/** The folders of the packages below `node_modules`. */
function dependenciesOf(folder: string): string[] {
  const text = readFileSync(join(folder, 'package.json'), 'utf8');
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(text) as Dependent;
  return Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => {
    const nested = join(folder, 'node_modules', name);
    const found = existsSync(nested) ? nested : join('node_modules', name);
    return [found, ...dependenciesOf(found)];
  });
}

async function packFolder(packed: string): Promise<Tarball> {
  const folder = temporaryFolder();
  const output = await succeeding(
    NPM,
    ['pack', packed, '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', folder],
    process.cwd(),
  );
  const { filename, size, unpackedSize, files } = packedOf(output);
  return { file: join(folder, filename), size, unpackedSize, paths: files.map(({ path }) => path) };
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cronlatch-tarball-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A list of packages; some versions of npm return no array. */
function packedOf(output: string): Packed {
  const [packed] = Object.values(JSON.parse(output) as Packed[] | Record<string, Packed>);
  if (packed === undefined) throw new Error(`npm packed nothing: ${output}`);
  return packed;
}
