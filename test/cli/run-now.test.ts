import assert from 'node:assert/strict';
import { closing } from '../support/benches/closing';
import { testOperated, type Operated } from './operated';
import { operations } from 'cronlatch/operations';
import { BY, lastAct } from '../support/jobs/acts';

const ACT = `--yes --reason 'the bank was late' --actor anne`;
const EVERY = ['mysql', 'mariadb', 'postgres', 'sqlite'] as const;

/** An instance that has declared a job which runs once per tick, and one that runs once per day. */
async function instanceOf(bench: Operated, task: () => unknown = () => {}) {
  const guard = await bench.createJobGuard(bench.url, { logger: false, pollInterval: '200ms' });
  guard.wrap({ name: 'report', lockAtMostFor: '1m', oncePer: { period: 'tick' } }, task);
  guard.wrap({ name: 'bill', lockAtMostFor: '1m', oncePer: { period: 'day', timeZone: 'UTC' } }, task);
  await guard.runOverdue();
  return closing(guard);
}

testOperated(
  'run --wait runs a job on an instance, and exits as exec does',
  async (bench) => {
    const failures: Error[] = [];
    await using _instance = await instanceOf(bench, () => {
      for (const failure of failures) throw failure;
    });
    const done = await bench.call(`run bill --wait ${ACT}`);
    assert.deepEqual([done.status, done.stderr], [0, 'cronlatch: Requested. The request expires in 1h.\n']);
    assert.match(
      done.stdout,
      /^An instance starts job bill for \d{4}-\d\d-\d\d at its next check for overdue runs.*\nJob bill on \S+\/\d+: done\.\n$/,
    );
    const key = (await lastAct(bench.guard, 'bill'))?.periodKey;
    await bench.prints(`history bill ${key}`, /run +anne +the bank was late/);
    // Nothing is announced that does not happen.
    const again = /completed at .* To run it again: cronlatch rerun bill .* --force/;
    await bench.refused(`run bill --wait ${ACT}`, 4, again);
    failures.push(new Error('no paper'));
    const failed = await bench.call(`run report --wait ${ACT}`);
    assert.equal(failed.status, 1);
    assert.match(failed.stdout, /Job report on \S+: failed: Error: no paper\.\n$/);
    const { text, ended } = await operations(bench.guard).run({ job: 'report' }, { ...BY, wait: true });
    assert.match(text, /^Job report on \S+: failed: Error: no paper\.$/);
    assert.equal(ended?.state, 'failed');
    await bench.prints(
      'history report',
      /\n[\d:]{5} .* · run failed: Error: no paper .* anne +the bank was late\n/,
    );
  },
  EVERY,
);

testOperated(
  'a job that is unknown, or that no instance has declared lately, is refused by name',
  async (bench) => {
    {
      await using _instance = await instanceOf(bench);
      for (const [args, line] of [
        ['run repor', /^There is no job 'repor'\. Did you mean 'report'\?$/],
        ['run report --within soon', /^--within is "soon"/],
        ['run bill --from 2026-11-01 --to 2026-11-31', /^--to is "2026-11-31"/],
        ['run bill today --from 2026-11-01 --to 2026-11-02', /^Name either a period, or a range/],
      ] as const)
        await bench.refused(`${args} ${ACT}`, 2, line);
    }
    await bench.query(`UPDATE cronlatch_job SET registered_at = registered_at - 181000000`);
    const gone = /'report': no instance has declared it within the last 3 minutes\. The last was /;
    await bench.refused(`run report ${ACT}`, 4, gone);
  },
);

testOperated('a request that expires ends with 75, and a second one is refused', async (bench) => {
  await using _instance = await instanceOf(bench);
  await operations(bench.guard).pause({ lock: 'report' }, { actor: 'bob', reason: 'audit' });
  const { request } = await bench.json(`run report ${ACT}`);
  assert.equal((request as { state: string }).state, 'open');
  const second = /was requested by anne at .*: the bank was late\. That request has not ended/;
  const requested = await bench.call(`run report ${ACT}`);
  assert.equal(requested.status, 4);
  assert.match(requested.stderr, second);
  await bench.query(`UPDATE cronlatch_run_act SET expires_at = at`);
  const { status, stdout } = await bench.call(`run report --within 1s --wait ${ACT}`);
  assert.equal(status, 75);
  assert.match(stdout, /\nJob report( on \S+)?: expired(: locked)?\.\n$/);
});
