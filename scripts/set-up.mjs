import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, sep } from 'node:path';
import { npm, run } from './run.mjs';

const STAMP = 'node_modules/.cronlatch-installed';
const INSTALLED = 'node_modules/.package-lock.json';
const SQLITE = 'node_modules/better-sqlite3';

/** Node 20 crashes in better-sqlite3 13. There, the version that this folder pins is linked in its place. */
const NODE_20 = 'scripts/node-20';
const NODE_20_INSTALLED = 'node_modules/.node-20';
const isNode20 = process.versions.node.startsWith('20.');

/** What `node_modules` must match: the lock files, and the Node that native modules were compiled for. */
function wanted() {
  return createHash('sha256')
    .update(readFileSync('package-lock.json'))
    .update(readFileSync(join(NODE_20, 'package-lock.json')))
    .update(process.versions.modules)
    .digest('hex');
}

/** Whether `npm ci` was run by hand: npm lists there what it installed. */
function isInstalled() {
  if (!existsSync(INSTALLED)) return false;
  const { packages } = readJson('package-lock.json');
  const { packages: installed } = readJson(INSTALLED);
  const isAsLocked = ([path, { version, integrity, optional }]) =>
    path === '' || (installed[path] === undefined ? optional : sameAs(installed[path], version, integrity));
  if (Object.keys(installed).some((path) => !(path in packages))) return false;
  return Object.entries(packages).every(isAsLocked);
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function sameAs(installed, version, integrity) {
  return installed.version === version && installed.integrity === integrity;
}

/** By its files, because loading a version that is not for this Node can end the process. */
function hasPinnedSqlite() {
  const manifest = join(SQLITE, 'package.json');
  const { packages } = readJson(join(isNode20 ? NODE_20 : '.', 'package-lock.json'));
  return existsSync(manifest) && readJson(manifest).version === packages[SQLITE].version;
}

function sqliteLoads() {
  try {
    const Database = createRequire(import.meta.url)('better-sqlite3');
    new Database(':memory:').close();
    return true;
  } catch {
    return false;
  }
}

/** Installs the development dependencies if they are missing or out of date. */
export async function install() {
  const isStamped = existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted();
  if (isStamped && hasPinnedSqlite()) return;
  const isReady = () => hasPinnedSqlite() && sqliteLoads();
  if (!isInstalled() || (!isNode20 && !isReady())) {
    console.error('Installing dependencies with npm ci …');
    await npm(['ci']);
  }
  if (isNode20 && !isReady()) await linkSqliteOfNode20();
  writeFileSync(STAMP, wanted());
}

/** Beside what npm has installed, so that `package-lock.json` stays as it is. */
async function linkSqliteOfNode20() {
  console.error('Installing better-sqlite3 12 for Node 20 (it may be compiled: about a minute) …');
  cpSync(NODE_20, NODE_20_INSTALLED, { recursive: true });
  await npm(['ci'], { cwd: NODE_20_INSTALLED });
  rmSync(SQLITE, { recursive: true, force: true });
  symlinkSync(realpathSync(join(NODE_20_INSTALLED, SQLITE)), SQLITE, 'junction');
}

const tsc = (project) => run(process.execPath, ['node_modules/typescript/bin/tsc', '--project', project]);

/** The example that `npx cronlatch demo` runs. */
const DEMO = 'examples/demo/tsconfig.json';

/**
 * Builds the library into `dist`. Output of a deleted source would be found before a folder with that name.
 */
export async function buildLibrary() {
  for (const name of existsSync('dist') ? readdirSync('dist', { recursive: true }) : []) {
    const folder = name.startsWith(`demo${sep}`) ? 'examples' : 'src';
    const source = join(folder, name.replace(/\.(js|d\.ts)(\.map)?$/, '.ts'));
    if (source.endsWith('.ts') && !existsSync(source)) rmSync(join('dist', name));
  }
  await tsc('tsconfig.json');
  await tsc(DEMO);
  await bundleDashboard();
}

const PAGES = 'src/dashboard/browser';
/** What the dashboard has of other packages. */
const BUNDLED = ['hono', '@hono/node-server', 'cronstrue'];

/** Puts the packages of the dashboard, its script and its style into one file, with the texts of their licences beside it. */
async function bundleDashboard() {
  const { build } = createRequire(import.meta.url)('esbuild');
  const textOf = async (file) => {
    const options = { entryPoints: [join(PAGES, file)], bundle: true, minify: true, write: false };
    return JSON.stringify((await build(options)).outputFiles[0].text);
  };
  await tsc(join(PAGES, 'tsconfig.json'));
  await build({
    entryPoints: ['src/dashboard/vendor.ts'],
    outfile: 'dist/dashboard/vendor.js',
    define: { SCRIPT_TEXT: await textOf('client.ts'), STYLE_TEXT: await textOf('style.css') },
    ...{ bundle: true, minify: true, platform: 'node', target: 'node20', legalComments: 'none' },
  });
  const licences = BUNDLED.map((name) => {
    const folder = join('node_modules', name);
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    return `${name}\n\n${readFileSync(join(folder, file), 'utf8')}`;
  });
  writeFileSync('dist/dashboard/LICENSES.txt', licences.join('\n\n'));
}

/** Builds tests and examples, once for each kind of decorators, into `.build`. */
export async function buildTests() {
  await tsc('test/tsconfig.json');
  await tsc('test/tsconfig.standard.json');
}

/** Builds the library, and the examples that use it. */
export async function buildExamples() {
  await buildLibrary();
  await tsc('examples/tsconfig.json');
}

/** Builds the library, and the bench that compares it. */
export async function buildBench() {
  await buildLibrary();
  await tsc('bench/tsconfig.json');
}
