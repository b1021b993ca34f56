import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { testOnEvery, type TestDatabase } from '../support/databases/fresh';
import { headerOf, linePattern, patternOf, sourceOf } from './header';

const COMPILED = join(__dirname, '../..');
const PRELOADED = require.resolve('./end-with-test');
const LONGEST_WAIT_MS = 60_000;

export type Ending = readonly [code: number | null, signal: NodeJS.Signals | null];

/** An example in its own process, which ends with the test. */
export class RunningExample {
  /** What it has printed so far on standard output. */
  readonly lines: string[] = [];
  /** What it printed on standard error. Resolves when it has ended. */
  readonly errors: Promise<string>;
  readonly ended: Promise<Ending>;
  readonly #process: ChildProcess;
  readonly #reader: Interface;

  constructor(
    readonly name: string,
    { environment, folder }: { environment: Readonly<Record<string, string>>; folder?: string | undefined },
  ) {
    const child = spawn(process.execPath, ['--require', PRELOADED, scriptOf(name)], {
      cwd: folder,
      env: { ...process.env, DATABASE_URL: undefined, FORCE_COLOR: undefined, NO_COLOR: '1', ...environment },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    assert.ok(child.stdout !== null && child.stderr !== null);
    this.#process = child;
    this.#reader = createInterface(child.stdout).on('line', (line) => void this.lines.push(line));
    this.errors = text(child.stderr);
    this.ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  }

  get output(): string {
    return this.lines.map((line) => `${line}\n`).join('');
  }

  /** Resolves when the condition holds, which may depend on any line. */
  async until(condition: () => boolean, what: string): Promise<void> {
    const signal = AbortSignal.timeout(LONGEST_WAIT_MS);
    const failed = async (): Promise<never> => {
      const how = signal.aborted ? `within ${LONGEST_WAIT_MS} ms` : 'before it ended';
      const errors = signal.aborted ? '' : await this.errors;
      throw new Error(`${this.name} did not print ${how}: ${what}\nIt printed:\n${this.output}${errors}`);
    };
    while (!condition()) {
      const line = once(this.#reader, 'line', { signal }).catch(failed);
      await Promise.race([line, this.ended.then(async () => (condition() ? undefined : await failed()))]);
    }
  }

  /** Resolves when it has printed what this part of its header promises, and nothing else before. */
  async prints(part = 0): Promise<void> {
    const expected = promiseOf(this.name, part);
    await this.until(() => patternOf(expected, '[^]*').test(this.output), `\n${expected.join('\n')}\n`);
  }

  /** Asserts that it ends by itself, and prints exactly what this part of its header promises. */
  async printsAndEnds(part = 0): Promise<void> {
    const errors = await this.errors;
    assert.deepEqual(await this.ended, [0, null], errors);
    assert.match(this.output, patternOf(promiseOf(this.name, part)));
    assert.equal(errors, '');
  }

  /**
   * Ends it as a process manager does.
   *
   * @returns what it has printed on standard error
   */
  async stop(): Promise<string> {
    this.#process.kill('SIGTERM');
    assert.deepEqual(await this.ended, [null, 'SIGTERM'], await this.errors);
    return await this.errors;
  }

  /** The process stands still during the act, however long that takes. */
  async paused(act: () => Promise<void>): Promise<void> {
    this.#process.kill('SIGSTOP');
    await act().finally(() => this.#process.kill('SIGCONT'));
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.ended;
  }
}

export function promiseOf(name: string, part = 0): readonly string[] {
  const lines = headerOf(name).printed[part];
  assert.ok(lines !== undefined, `the header of ${name} promises lines in part ${part}`);
  return lines;
}

export type Start = () => RunningExample;

/** Starts examples with one database. They end with the test. */
export function exampleStarter(
  name: string,
  t: TestContext,
  place: { environment: Readonly<Record<string, string>>; folder?: string },
): Start {
  return () => {
    const example = new RunningExample(name, place);
    t.after(() => example.kill());
    return example;
  };
}

/** A test of an example on each kind of database. */
export function testOnEveryDatabase(
  name: string,
  shows: string,
  body: (start: Start, database: TestDatabase) => Promise<void>,
): void {
  testOnEvery(`${name}: ${shows}`, async (database, t) => body(exampleStarter(name, t, database), database));
}

/** Resolves when the condition holds for the lines of all instances together. */
export async function untilAny(
  instances: readonly RunningExample[],
  condition: (lines: readonly string[]) => boolean,
  what: string,
): Promise<void> {
  const holds = (): boolean => condition(instances.flatMap(({ lines }) => lines));
  await Promise.race(instances.map((instance) => instance.until(holds, what)));
}

/** A frame of a stack, and the lines of a guard that closes while a job runs, which depend on the moment. */
const UNPROMISED = /^ {4}at |^cronlatch \S+ (closing: waits|closed) /;

/** Each line is one that the header promises. Lines after a lone `…` are any lines. */
export function assertOnly(lines: readonly string[], promised: readonly string[]): void {
  const patterns = promised.map((line) => new RegExp(`^${linePattern(line)}$`));
  for (const line of lines.filter((each) => !UNPROMISED.test(each)))
    assert.ok(
      patterns.some((pattern) => pattern.test(line)),
      `not promised: ${line}`,
    );
}

function scriptOf(name: string): string {
  const source = sourceOf(name);
  return source.endsWith('.mjs')
    ? join(process.cwd(), source)
    : join(COMPILED, source.replace(/\.ts$/, '.js'));
}
