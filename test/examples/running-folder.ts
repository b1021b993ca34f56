import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { cpSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { Project } from '../package/project';
import { pack, type Tarball } from '../package/tarball';
import { codeBlocksOf } from '../support/checks/page';
import { commandWith, NPM, NPX } from '../support/processes/command';
import { linePattern } from './header';

const LONGEST_WAIT_MS = 120_000;
const COMMANDS = { npm: NPM, npx: NPX };
const NOT_COPIED = ['node_modules', 'dist', 'generated', 'package-lock.json'];

let tarball: Promise<Tarball> | undefined;

type Environment = Readonly<Record<string, string | undefined>>;

interface Processes {
  readonly spawnGuarded: (file: string, args: string[], options: object) => ChildProcess;
}

/** A copy of a folder of the examples, with its packages from the registry and the library from its tarball. */
export async function copyOf(name: string): Promise<FolderCopy> {
  const folder = join('examples', name);
  const text = readFileSync(join(folder, 'package.json'), 'utf8');
  const manifest = JSON.parse(text) as { readonly dependencies: Readonly<Record<string, string>> };
  const copy = new FolderCopy(name);
  const filter = (path: string): boolean => !NOT_COPIED.includes(basename(path));
  cpSync(folder, copy.project.folder, { recursive: true, filter });
  const { cronlatch: _, ...others } = manifest.dependencies;
  const packages = Object.entries(others).map(([other, range]) => `${other}@${range}`);
  await copy.project.install((await (tarball ??= pack())).file, ...packages);
  return copy;
}

export class FolderCopy implements AsyncDisposable {
  readonly project = new Project();
  readonly #instances: RunningFolder[] = [];

  constructor(readonly name: string) {}

  /** The lines that its README promises, of which `…` is any text. */
  get promised(): readonly string[] {
    const block = codeBlocksOf(`examples/${this.name}/README.md`).find(({ language }) => language === 'text');
    return block?.text.trimEnd().split('\n') ?? [];
  }

  /** @throws with the output of the command, if its status is not 0 */
  async run(env: Environment, file: 'npm' | 'npx', ...args: string[]): Promise<void> {
    const { status, stdout, stderr } = await commandWith(
      { cwd: this.project.folder, env },
      COMMANDS[file],
      args,
    );
    assert.equal(status, 0, `${stdout}${stderr}`);
  }

  /** Starts an instance by `npm start`, with these options. It ends with the copy. */
  async start(environment: Environment, ...options: string[]): Promise<RunningFolder> {
    const path = resolve('test/support/servers/process/spawn-guarded.mjs');
    const { spawnGuarded } = (await import(pathToFileURL(path).href)) as Processes;
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_V8_COVERAGE: undefined, ...environment };
    const child = spawnGuarded(NPM, ['start', ...options], { cwd: this.project.folder, env });
    const instance = new RunningFolder(this.name, child);
    this.#instances.push(instance);
    return instance;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const instance of this.#instances) await instance.kill();
    this.project[Symbol.dispose]();
  }
}

/** An instance that npm has started, in a process group of its own. */
export class RunningFolder {
  /** What it has printed so far. */
  readonly lines: string[] = [];
  readonly ended: Promise<readonly [code: number | null]>;
  readonly #printed = new EventEmitter();

  constructor(
    readonly name: string,
    private readonly child: ChildProcess,
  ) {
    assert.ok(child.stdout !== null && child.stderr !== null);
    this.ended = once(child, 'close') as Promise<[number | null]>;
    for (const stream of [child.stdout, child.stderr])
      createInterface(stream).on('line', (line) => {
        this.lines.push(line);
        this.#printed.emit('line');
      });
  }

  /** Resolves when it has printed lines like these, in any order. */
  async prints(lines: readonly string[]): Promise<void> {
    const patterns = lines.map((line) => new RegExp(`^${linePattern(line)}$`));
    const isPrinted = (pattern: RegExp): boolean => this.lines.some((line) => pattern.test(line));
    await this.until(() => patterns.every(isPrinted), lines.join('\n'));
  }

  /** Resolves when the condition holds, which may depend on any line. */
  async until(condition: () => boolean, what: string): Promise<void> {
    const signal = AbortSignal.timeout(LONGEST_WAIT_MS);
    while (!condition()) {
      const line = once(this.#printed, 'line', { signal }).catch(() => {});
      await Promise.race([line, this.ended]);
      const hasEnded = this.child.exitCode !== null || this.child.signalCode !== null;
      if ((hasEnded || signal.aborted) && !condition())
        throw new Error(`${this.name} did not print: ${what}\nIt printed:\n${this.lines.join('\n')}`);
    }
  }

  /** All of its processes crash. */
  async kill(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null && this.child.pid !== undefined)
      process.kill(-this.child.pid, 'SIGKILL');
    await this.ended;
  }
}
