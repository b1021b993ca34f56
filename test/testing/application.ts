import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const ROOT = join(__dirname, '../../../..');
/** The fixtures as they were written, and as this compilation made them. */
export const SOURCES = join(ROOT, 'test/testing/fixtures');
export const COMPILED = join(__dirname, 'fixtures');

export interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An application in a folder of its own, in whose `node_modules` the built library is installed. */
export class Application implements Disposable {
  /** Below the root, so that the test runners are found, and out of the way of everything else. */
  readonly #folder: string;

  constructor() {
    const applications = join(ROOT, '.build/applications');
    mkdirSync(applications, { recursive: true });
    this.#folder = mkdtempSync(join(applications, 'application-'));
    this.write('package.json', JSON.stringify({ name: 'application', private: true }));
    this.copy(join(ROOT, 'package.json'), 'node_modules/cronlatch/package.json');
    this.copy(join(ROOT, 'dist'), 'node_modules/cronlatch/dist');
  }

  copy(from: string, path: string): void {
    cpSync(from, join(this.#folder, path), { recursive: true });
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.#folder, path)), { recursive: true });
    writeFileSync(join(this.#folder, path), text);
  }

  /** @throws when there is nothing to replace */
  replace(path: string, search: string, replacement: string): void {
    const text = readFileSync(join(this.#folder, path), 'utf8');
    if (!text.includes(search)) throw new Error(`${path} does not contain ${search}.`);
    this.write(path, text.replaceAll(search, replacement));
  }

  /** Runs Node in its folder: the script is one of the project's development dependencies, or an option of Node. */
  node(...args: string[]): Promise<Ended> {
    const options = { cwd: this.#folder, env: environment(), timeout: 60_000, maxBuffer: 2 ** 24 };
    return new Promise((resolve) => {
      execFile(process.execPath, args, options, (error, stdout, stderr) => {
        const status = error === null ? 0 : Number(error.code ?? 1);
        resolve({ status, stdout, stderr });
      });
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }
}

/** Without these variables, so that the child does not report to this test run or add to its coverage. */
function environment(): NodeJS.ProcessEnv {
  const environment = { ...process.env };
  delete environment['NODE_TEST_CONTEXT'];
  delete environment['NODE_V8_COVERAGE'];
  return environment;
}
