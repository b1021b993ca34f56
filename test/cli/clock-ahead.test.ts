import assert from 'node:assert/strict';
import { FakedClock, CAN_FAKE_CLOCKS } from '../support/clocks/faked';
import { closing } from '../support/benches/closing';
import type { Ended } from '../support/processes/command';
import { testOperated, type Operated } from './operated';
import { dailyJob, register } from './year-of-runs';

const HOUR_MS = 3_600_000;
const ALL = ['mysql', 'mariadb', 'postgres', 'sqlite'] as const;
const LOCK = { name: 'plain', lockAtMostFor: '10m' } as const;
const HOURLY = { period: 'hour', timeZone: 'UTC' } as const;
const BY_ANNE = `--actor anne --reason 'the clock is right again' --yes`;
const CLOCK = 'the clock of the store was ahead then, or has been set back since';

/** Leaves the rows as a clock would that was eight hours ahead. */
async function moveAhead({ driver, query }: Operated, table: string, columns: readonly string[]) {
  const ahead = {
    mysql2: (column: string) => `TIMESTAMPADD(HOUR, 8, ${column})`,
    pg: (column: string) => `${column} + interval '8 hours'`,
    'better-sqlite3': (column: string) => `${column} + ${8 * HOUR_MS * 1000}`,
  }[driver];
  await query(`UPDATE ${table} SET ${columns.map((column) => `${column} = ${ahead(column)}`).join(', ')}`);
}

function warningsOf({ guard }: Operated): string[] {
  const warnings: string[] = [];
  guard.on('guard:warning', ({ message }) => void warnings.push(message));
  return warnings;
}

async function releasePlain({ guard, call }: Operated): Promise<Ended> {
  const { lockedBy } = (await guard.locks.inspect('plain')) ?? {};
  return await call(`release plain --owner ${lockedBy} ${BY_ANNE}`);
}

testOperated(
  'a lock that was granted while the clock was ahead is a warning and a problem, and release frees it',
  async (bench) => {
    const { guard, call, prints } = bench;
    const warnings = warningsOf(bench);
    await register(guard, dailyJob('plain', { kind: 'lock' }));
    await guard.run(LOCK, () => 1);
    await guard.run({ ...LOCK, name: 'of no job' }, () => 1);
    await moveAhead(bench, 'shedlock', ['locked_at', 'lock_until']);

    for (let ticks = 0; ticks < 2; ticks += 1)
      assert.deepEqual(await guard.run(LOCK, () => 1), { executed: false, reason: 'locked' });
    assert.equal(warnings.length, 1, 'one for each lock');
    assert.match(warnings[0] ?? '', new RegExp(`^Lock 'plain' was granted at a time .+: ${CLOCK}\\. `));

    const checked = await call('status --check');
    assert.equal(checked.status, 5, checked.stdout);
    for (const [name, quoted] of [
      ['plain', 'plain'],
      ['of no job', `'of no job'`],
    ] as const)
      assert.match(
        checked.stdout,
        new RegExp(`^Lock '${name}' .+ cronlatch release ${quoted} --owner \\S+ --reason TEXT$`, 'm'),
      );
    await prints('status', /^plain +✗ clock /m);
    const { stdout } = await call('why plain');
    assert.match(
      stdout,
      new RegExp(`\nLock 'plain' .+: ${CLOCK}\\. .+\n {2}cronlatch release plain --owner `),
    );
    assert.doesNotMatch(stdout, /lockAtLeastFor|Running:/);

    assert.equal((await releasePlain(bench)).status, 0);
    assert.deepEqual(await guard.run(LOCK, () => 2), { executed: true, value: 2 });
    assert.doesNotMatch((await call('status --check')).stdout, /'plain'/);
  },
  ALL,
);

testOperated(
  'a lock that was granted while the clock was ahead is free when its job ends, unless lockAtLeastFor keeps it',
  async (bench) => {
    const { guard } = bench;
    const setRight = () => moveAhead(bench, 'shedlock', ['locked_at', 'lock_until']);
    await guard.run(LOCK, setRight);
    assert.deepEqual(await guard.run(LOCK, () => 1), { executed: true, value: 1 });
    await guard.run({ ...LOCK, lockAtLeastFor: '1s' }, setRight);
    assert.deepEqual(await guard.run(LOCK, () => 1), { executed: false, reason: 'locked' });
  },
  ALL,
);

testOperated(
  'an extension of a lock that was granted while the clock was ahead ends it when it should',
  async (bench) => {
    const { guard } = bench;
    await guard.run(LOCK, async (lock) => {
      await moveAhead(bench, 'shedlock', ['locked_at', 'lock_until']);
      assert.equal(await lock.extend('20m'), true);
      const { lockUntil } = (await guard.locks.inspect('plain')) ?? {};
      assert.ok(Number(lockUntil) < Date.now() + HOUR_MS);
    });
  },
  ALL,
);

testOperated(
  'runs of future periods are a warning and a problem, each with its rerun',
  async (bench) => {
    const { guard, call, prints } = bench;
    const warnings = warningsOf(bench);
    const job = { name: 'hourly', lockAtMostFor: '10m', oncePer: HOURLY } as const;
    await register(guard, dailyJob('hourly', { kind: 'hour', schedules: [] }));
    const now = new Date();
    for (const hours of [0, 1, 2])
      await guard.run({ ...job, at: new Date(now.getTime() + hours * HOUR_MS) }, () => 1);
    const keys = (await guard.ledger.list({ order: 'oldest-first' })).map(({ periodKey }) =>
      periodKey.replace('+', '\\+'),
    );
    const { stdout: before } = await call('status --check');
    assert.equal(before, 'no problems\n');
    await moveAhead(bench, 'cronlatch_run', ['started_at', 'finished_at', 'created_at', 'updated_at']);

    for (let ticks = 0; ticks < 2; ticks += 1)
      assert.deepEqual(await guard.run({ ...job, at: now }, () => 1), {
        executed: false,
        reason: 'already-completed',
      });
    assert.equal(warnings.length, 1, 'one for each run');
    assert.match(
      warnings[0] ?? '',
      new RegExp(`^Skipped the run of job 'hourly' for ${keys[0]}: it completed at `),
    );

    const checked = await call('status --check');
    assert.equal(checked.status, 5, checked.stdout);
    for (const key of keys.slice(1))
      assert.match(
        checked.stdout,
        new RegExp(
          `^The run of job 'hourly' for ${key} .+ cronlatch rerun hourly ${key} --force --reason TEXT$`,
          'm',
        ),
      );
    await prints('status', /^hourly +✗ clock /m);
    const last = keys[2] ?? '';
    await prints('why hourly', new RegExp(`for ${last} .+\n {2}cronlatch rerun hourly ${last} --force`));

    assert.equal((await call(`rerun hourly ${last.replace('\\', '')} --force ${BY_ANNE}`)).status, 0);
    assert.doesNotMatch((await call('status --check')).stdout, new RegExp(last));
  },
  ALL,
);

testOperated('explain names a run that was written while the clock was ahead', async (bench) => {
  const hourly = bench.guard.wrap({ name: 'hourly', lockAtMostFor: '10m', oncePer: HOURLY }, () => 1);
  await hourly();
  await moveAhead(bench, 'cronlatch_run', ['started_at', 'finished_at', 'updated_at']);
  const { text } = await bench.guard.ledger.explain('hourly');
  assert.match(text, /Its run completed at \S+ \S+Z\. Its times lie ahead of the database's clock/);
});

if (CAN_FAKE_CLOCKS)
  testOperated('after the host’s clock was a day ahead, status names the lock and the run', async (bench) => {
    await using clock = closing(new FakedClock());
    const { call } = bench;
    const exec = (args: string) => call(`exec ${args} --at-most 10m -- true`, { env: clock.environment });
    clock.set('+25h');
    assert.equal((await exec('--name plain')).status, 0);
    assert.equal((await exec('--name daily --once-per day --time-zone UTC')).status, 0);
    clock.set('+0');
    assert.match(
      (await exec('--name plain')).stderr,
      /Lock 'plain' was granted at a time that its store has not/,
    );
    const checked = await call('status --check');
    assert.equal(checked.status, 5, checked.stdout);
    const tomorrow = new Date(Date.now() + 25 * HOUR_MS).toISOString().slice(0, 10);
    assert.match(checked.stdout, /^Lock 'plain' .+ cronlatch release plain --owner /m);
    assert.match(checked.stdout, new RegExp(`^The run of job 'daily' for ${tomorrow} completed `, 'm'));
    assert.equal((await releasePlain(bench)).status, 0);
    assert.equal((await exec('--name plain')).status, 0);
  });
