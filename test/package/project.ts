import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { command, NPM, succeeding, type Ended } from '../support/processes/command';
import { packDependencies } from './tarball';

interface Manifest {
  readonly bin?: string | Readonly<Record<string, string>>;
}

/** An application in an empty folder, outside of the repository: it finds only what was put there. */
export class Project implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'cronlatch-project-'));
  readonly #cache = `${this.folder}-cache`;

  constructor(manifest: Record<string, unknown> = {}) {
    this.write('package.json', JSON.stringify({ name: 'application', private: true, ...manifest }));
  }

  write(path: string, text: string): void {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Tarballs, and packages in npm's notation. If all are tarballs, without a registry. */
  async install(...packages: string[]): Promise<void> {
    const isLocal = packages.every((name) => name.endsWith('.tgz'));
    const dependencies = isLocal ? await packDependencies() : [];
    // From a cache that knows some of the optional peers, npm would try to resolve them, and fail on the others.
    const source = isLocal ? ['--offline', '--cache', this.#cache] : ['--prefer-offline'];
    const options = ['--no-audit', '--no-fund', '--loglevel=error', ...source];
    await succeeding(NPM, ['install', ...options, ...packages, ...dependencies], this.folder);
  }

  /** Faster than installing: links a package of the repository, or of another folder, and its commands. */
  link(name: string, from = 'node_modules'): void {
    const link = join(this.folder, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(resolve(from, name), link, 'junction');
    const { bin = {} } = JSON.parse(readFileSync(join(link, 'package.json'), 'utf8')) as Manifest;
    const commands = typeof bin === 'string' ? { [basename(name)]: bin } : bin;
    const folder = join(this.folder, 'node_modules/.bin');
    mkdirSync(folder, { recursive: true });
    for (const [command, file] of Object.entries(commands))
      symlinkSync(join(link, file), join(folder, command));
  }

  /** The library as another project has it. */
  copyLibrary(from: Project): void {
    const path = 'node_modules/cronlatch';
    cpSync(join(from.folder, path), join(this.folder, path), { recursive: true });
  }

  /** Runs this process's Node in the project. */
  node(...args: string[]): Promise<Ended> {
    return this.run(process.execPath, ...args);
  }

  run(file: string, ...args: string[]): Promise<Ended> {
    return command(file, args, this.folder);
  }

  [Symbol.dispose](): void {
    for (const each of [this.folder, this.#cache]) rmSync(each, { recursive: true, force: true });
  }
}
