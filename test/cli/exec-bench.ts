import assert from 'node:assert/strict';
import type { DatabaseName } from '../support/databases/fresh';
import { cronlatch, errorLines } from './cronlatch';
import { testOperated, type Operated } from './operated';
import { started, type Started } from './started';

export const JOB = ['--name', 'nightly', '--at-most', '10m'];
export const DAILY = [...JOB, '--once-per', 'day', '--time-zone', 'UTC'];
export const IGNORES = [process.execPath, 'test/cli/fixtures/ignores.cjs'];

/** A test with a guard on the database of the commands. */
export function testExec(
  name: string,
  body: (bench: ExecBench) => Promise<void>,
  on: readonly DatabaseName[] = ['sqlite'],
): void {
  testOperated(
    name,
    async (bench) => {
      const env = { DATABASE_URL: bench.url };
      await body({
        ...bench,
        start: (...args) => started(['exec', ...args], env),
        exec: async (...args) => await cronlatch(['exec', ...args], { env }),
        isHeld: async () => (await bench.guard.locks.inspect('nightly'))?.isHeld ?? false,
      });
    },
    on,
  );
}

interface ExecBench extends Operated {
  readonly start: (...args: string[]) => Started;
  readonly exec: (...args: string[]) => ReturnType<typeof cronlatch>;
  readonly isHeld: () => Promise<boolean>;
}

/** What `exec` needs a database for. */
export function testExecOn(on: readonly DatabaseName[]): void {
  testExec(
    'a signal is passed on to sleep 30, the lock is released, and the status is passed on',
    async (bench) => {
      for (const [signal, status] of [
        ['SIGTERM', 143],
        ['SIGINT', 130],
        ['SIGHUP', 129],
        ['SIGQUIT', 131],
      ] as const) {
        const call = bench.start(...JOB, '--', 'sh', '-c', 'echo started; exec sleep 30');
        await call.printed('started');
        assert.equal(await bench.isHeld(), true);
        call.kill(signal);
        assert.deepEqual(await call.ended, { status, stdout: 'started\n', stderr: '' });
        assert.equal(await bench.isHeld(), false);
      }
    },
    on,
  );

  testExec(
    'a program that runs once per day is not started again on that day',
    async ({ exec, guard }) => {
      assert.equal((await exec(...DAILY, '--', 'sh', '-c', 'echo ran')).stdout, 'ran\n');
      const again = await exec(...DAILY, '--', 'sh', '-c', 'echo ran');
      assert.deepEqual([again.status, again.stdout], [0, '']);
      assert.match(errorLines(again)[0] ?? '', /^job 'nightly' for \S+ skipped: already-completed/);
      assert.equal((await guard.ledger.last('nightly'))?.state, 'completed');
    },
    on,
  );
}
