import assert from 'node:assert/strict';
import type { JobGuard } from 'cronlatch';
import { closing } from '../support/benches/closing';
import { testDrivers, type DriverBench } from '../support/benches/driver';
import type { DatabaseName } from '../support/databases/fresh';
import type { Ended } from '../support/processes/command';
import { cronlatch, errorLines } from './cronlatch';

export const DAY_MS = 86_400_000;

/** A database with the tables, and a guard of an instance that uses it. */
export interface Operated extends DriverBench {
  readonly guard: JobGuard;
  /** Calls the command line on this database. */
  readonly call: (args: string, options?: Parameters<typeof cronlatch>[1]) => Promise<Ended>;
  /** Calls it with `--json`, and expects that exit code. */
  readonly json: (args: string, status?: number) => Promise<Answer>;
  /** Calls it, and expects such an output. */
  readonly prints: (args: string, output: RegExp) => Promise<void>;
  /** Calls it, and expects this exit code, one line about an error, and nothing else. */
  readonly refused: (args: string, status: number, line: RegExp | string) => Promise<void>;
  /** Runs the daily job `job`, so many days ago. Its last attempt fails if there is an error. */
  readonly runDaysAgo: (job: string, days: number, error?: Error) => Promise<string>;
}

/** What a command prints for machines. */
type Answer = Readonly<Record<string, unknown>> & { readonly version: 1; readonly command: string };

/** One test for each of these kinds of database. */
export function testOperated(
  name: string,
  body: (bench: Operated) => Promise<void>,
  on: readonly DatabaseName[] = ['sqlite'],
): void {
  testDrivers(
    name,
    async (bench) => {
      await bench.createTables();
      await using guard = closing(
        await bench.createJobGuard(bench.url, { logger: false, pollInterval: false }),
      );
      await body({
        ...bench,
        ...callsOf(bench.url),
        guard,
        runDaysAgo: (...of) => runDaysAgo(guard, ...of),
      });
    },
    on,
  );
}

function callsOf(url: string): Pick<Operated, 'call' | 'json' | 'prints' | 'refused'> {
  const call: Operated['call'] = (args, options = {}) =>
    cronlatch(wordsOf(args), { ...options, env: { DATABASE_URL: url, ...options.env } });
  return {
    call,
    async json(args, status = 0) {
      const ended = await call(`${args} --json`);
      if (ended.status !== status) throw new Error(`${args} ended with ${ended.status}: ${ended.stderr}`);
      return JSON.parse(ended.stdout) as Answer;
    },
    prints: async (args, output) => assert.match((await call(args)).stdout, output, args),
    async refused(args, status, line) {
      const ended = await call(args);
      const [first = '', ...more] = errorLines(ended);
      assert.deepEqual([ended.status, ended.stdout, more], [status, '', []], args);
      if (typeof line === 'string') assert.equal(first, line);
      else assert.match(first, line);
    },
  };
}

/** As a shell divides them, with quotes. */
export function wordsOf(args: string): string[] {
  return [...args.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}

/** @returns the key of the period */
async function runDaysAgo(guard: JobGuard, job: string, days: number, error?: Error): Promise<string> {
  const at = new Date(Date.now() - days * DAY_MS);
  const oncePer = { period: 'day', timeZone: 'UTC', retry: { maxAttempts: 1 } } as const;
  const task = (): void => {
    if (error !== undefined) throw error;
  };
  await guard.run({ name: job, lockAtMostFor: '10m', oncePer, at }, task).catch(() => {});
  return at.toISOString().slice(0, 10);
}
