import { join } from 'node:path';
import { build } from 'esbuild';
import webpack from 'webpack';
import type { Project } from './project';

export interface BundleOptions {
  readonly format: 'esm' | 'cjs';
  readonly minify: boolean;
  /** Packages that the bundle loads when it runs. */
  readonly external: readonly string[];
}

/** Bundles an application into one file. */
export interface Bundler {
  readonly name: string;
  bundle(project: Project, entry: string, file: string, options: BundleOptions): Promise<void>;
}

/** What CommonJS packages inside the bundle need and an ES module lacks. */
const COMMON_JS = `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const __filename = (await import('node:url')).fileURLToPath(import.meta.url);`;

const esbuild: Bundler = {
  name: 'esbuild',
  async bundle({ folder }, entry, file, { format, minify, external }) {
    await build({
      ...{ absWorkingDir: folder, entryPoints: [entry], outfile: file, bundle: true },
      ...{ platform: 'node', format, minify, external: [...external], logLevel: 'silent' },
      ...(format === 'esm' ? { banner: { js: COMMON_JS } } : {}),
    });
  },
};

const webpackBundler: Bundler = {
  name: 'webpack',
  async bundle({ folder }, entry, file, { format, minify, external }) {
    const isModule = format === 'esm';
    const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) =>
      webpack(
        {
          ...{ context: folder, entry: `./${entry}`, target: 'node20', mode: 'production' },
          output: {
            ...{ path: join(folder, 'bundled'), filename: file.slice('bundled/'.length) },
            ...(isModule ? { module: true, chunkFormat: 'module' } : {}),
          },
          optimization: { minimize: minify },
          ...(isModule ? { experiments: { outputModule: true } } : {}),
          externalsType: isModule ? 'node-commonjs' : 'commonjs',
          externals: Object.fromEntries(external.map((name) => [name, name])),
        },
        (error, done) => (error === null ? resolve(done) : reject(error)),
      ),
    );
    if (stats?.hasErrors()) throw new Error(stats.toString('errors-only'));
  },
};

export const BUNDLERS: readonly Bundler[] = [esbuild, webpackBundler];
