import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test, type TestContext } from 'node:test';
import { commandWith, type Ended } from '../support/command';

const MAIN = resolve('dist/cli/main.js');

interface CallOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
  /** A file that is loaded before the command line. */
  readonly hook?: string;
}

/** Calls the built command line in a process of its own, without a DATABASE_URL unless `env` has one. */
export function cronlatch(
  args: readonly string[],
  { env, input = '', cwd = process.cwd(), hook }: CallOptions = {},
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
