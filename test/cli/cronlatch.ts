import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { test, type TestContext } from 'node:test';
import { commandWith, type Ended } from '../support/processes/command';

const MAIN = resolve('dist/cli/main.js');

interface CallOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
  /** The width of a terminal that shows colours. Without it, the output is a pipe. */
  readonly columns?: number;
  /** A file that is loaded before the command line. */
  readonly hook?: string;
}

/** `exec` starts a program, and a file of the application may leave connections open. */
const OF_A_PROCESS = ['exec', '--app', '-d', '--data-source'];

/**
 * Calls the built command line, without a DATABASE_URL unless `env` has one. Most calls run in the process of the test,
 * which takes a tenth of the time.
 */
export async function cronlatch(args: readonly string[], options: CallOptions = {}): Promise<Ended> {
  const { hook, input } = options;
  const needsProcess =
    hook !== undefined || input !== undefined || args.some((arg) => OF_A_PROCESS.includes(arg));
  return await (needsProcess ? callProcess(args, options) : callHere(args, options));
}

// eslint-disable-next-line @typescript-eslint/no-require-imports -- the file that a user's shell runs
const { main } = require(MAIN) as {
  readonly main: (args: readonly string[], place: object) => Promise<void>;
};
/** The call that ends last. Each has the streams and the working directory alone. */
let last: Promise<unknown> = Promise.resolve();

function callHere(args: readonly string[], options: CallOptions): Promise<Ended> {
  const ended = last.then(() => callAlone(args, options));
  last = ended.catch(() => {});
  return ended;
}

async function callAlone(
  args: readonly string[],
  { env = {}, cwd = process.cwd(), columns }: CallOptions,
): Promise<Ended> {
  const output = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof output): PassThrough =>
    new PassThrough().setEncoding('utf8').on('data', (text: string) => (output[name] += text));
  const terminal = columns === undefined ? {} : { isTTY: true, columns, hasColors: () => true };
  const io = {
    stdin: new PassThrough().end(),
    stdout: Object.assign(stream('stdout'), terminal),
    stderr: stream('stderr'),
    env: { ...process.env, DATABASE_URL: undefined, FORCE_COLOR: undefined, NO_COLOR: undefined, ...env },
    exitCode: 0,
  };
  const from = process.cwd();
  process.chdir(cwd);
  try {
    await main(args, io);
  } finally {
    process.chdir(from);
  }
  for (const written of [io.stdout, io.stderr]) await finished(written.end());
  return { ...output, status: io.exitCode };
}

function callProcess(
  args: readonly string[],
  { env, input = '', cwd = process.cwd(), hook }: CallOptions,
): Promise<Ended> {
  // Unlike in other children, the coverage of this one counts: it runs the build under test.
  const { NODE_V8_COVERAGE } = process.env;
  const hooks = hook === undefined ? [] : ['--require', resolve('test/cli/fixtures', hook)];
  return commandWith(
    { cwd, input, env: { NODE_V8_COVERAGE, DATABASE_URL: undefined, ...env } },
    process.execPath,
    [...hooks, MAIN, ...args],
  );
}

/** The lines of an error, each without the prefix that every line must have. */
export function errorLines({ stderr }: Ended): string[] {
  const lines = stderr.split('\n').slice(0, -1);
  const wrong = lines.find((line) => !line.startsWith('cronlatch: '));
  if (wrong !== undefined || !stderr.endsWith('\n')) throw new Error(`Unexpected output: ${stderr}`);
  return lines.map((line) => line.slice('cronlatch: '.length));
}

/** A test with an empty folder of its own. */
export function testInFolder(name: string, body: (folder: string, t: TestContext) => Promise<void>): void {
  void test(name, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'cronlatch-cli-'));
    try {
      await body(folder, t);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
