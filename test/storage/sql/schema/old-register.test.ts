import assert from 'node:assert/strict';
import { cronlatch } from '../../../cli/cronlatch';
import { testDrivers } from '../../../support/benches/driver';
import { closing } from '../../../support/benches/closing';
import { DAILY } from '../../../support/benches/guard-of-runs';
import { warningsOf } from '../../../support/benches/guard';

const QUIET = { pollInterval: false, logger: false } as const;
const OTHERS = [
  ...['next_scheduled_at', 'previous_declared', 'previous_registered_by', 'previous_registered_at'],
  ...['last_started_at', 'last_finished_at', 'last_outcome', 'last_holder'],
];

testDrivers(
  'a register of the version before is taken over, and that version goes on registering (S-24)',
  async ({ createTables, createJobGuard, verifySchema, query, url }) => {
    await createTables();
    {
      await using guard = closing(await createJobGuard(url, QUIET));
      guard.wrap(DAILY, () => {});
      await guard.runOverdue();
    }
    for (const column of ['declared_at', 'answered_at'])
      await query(`ALTER TABLE cronlatch_job DROP COLUMN ${column}`);
    for (const column of OTHERS)
      await query(`ALTER TABLE cronlatch_job ADD COLUMN ${column} VARCHAR(255) NULL`);
    const register = `UPDATE cronlatch_job SET schedule = '0 3 * * *', next_scheduled_at = NULL, version = '0.0.9'`;
    await query(register);

    const { stdout } = await cronlatch(['init', '--dry-run'], { env: { DATABASE_URL: url } });
    assert.match(stdout, /cronlatch_job +lacks columns\n/);
    assert.equal(stdout.split('\n').filter((line) => line.endsWith(';')).length, 2, stdout);
    await using guard = closing(await createJobGuard(url, QUIET));
    const warnings = warningsOf(guard);
    const daily = guard.wrap(DAILY, () => 'done');
    await guard.runOverdue();
    assert.equal(await daily(), 'done');
    assert.equal(warnings.length, 1);
    assert.match(
      warnings[0] ?? '',
      /has no column 'declared_at'\. Add it with npx cronlatch init\. Run: ALTER TABLE/,
    );
    await createTables();
    await createTables();
    await query(register);
    assert.deepEqual(
      (await verifySchema()).map(({ code }) => code),
      ['unused-columns'],
    );
    await guard.runOverdue();
    const [job] = await guard.ledger.jobs();
    assert.ok(job?.declaredAt && job.answeredAt);
    assert.deepEqual(job.declaredAt, job.registeredAt);
    await query(register);
    assert.equal((await guard.ledger.jobs())[0]?.version, '0.0.9');
  },
);
