/** Every act leaves a row, before its effect, which the commands, `operations(guard)` and the dashboard show. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { mock } from 'node:test';
import { createJobGuard as createMysqlGuard } from 'cronlatch/mysql2';
import { createJobGuard as createPgGuard } from 'cronlatch/pg';
import { InvalidLockUseError, LockStorageError, type JobGuard } from 'cronlatch';
import { operations } from 'cronlatch/operations';
import { siteOf } from '../dashboard/site';
import { closing } from '../support/benches/closing';
import { withUser } from '../support/databases/user';
import { lastAct } from '../support/jobs/acts';
import { testOperated, type Operated } from './operated';
import { dailyJob, ledgerOf, register } from './year-of-runs';

const SQLITE = resolve('dist/integrations/better-sqlite3/index.js');
const BY = { actor: 'anne', reason: 'ticket 7' };
const ACT = `--yes --actor anne --reason 'ticket 7'`;
const EVERY = ['mysql', 'mariadb', 'postgres', 'sqlite'] as const;

/** Takes a lock as a job does, and lets its holder die. */
async function held(guard: JobGuard, name: string): Promise<void> {
  await guard.lockManager().tryLock({ name, lockAtMostFor: '10m' });
}

testOperated(
  'after a pause and its end, every view shows who did what, and why',
  async (bench) => {
    const { guard, call, json, prints } = bench;
    await register(guard, dailyJob('close-day'));
    await call(`pause close-day --until 1h ${ACT}`);
    await operations(guard).resume({ job: 'close-day' }, { actor: 'bob', reason: 'the bank is back' });
    await held(guard, 'other');
    assert.equal(
      (await json(`release other --owner ${await ownerOf(guard, 'other')} ${ACT}`))['recorded'],
      true,
    );

    const acts = await operations(guard).acts({ lock: 'close-day' });
    assert.deepEqual(
      acts.map(({ verb, job, actor, reason, state }) => [verb, job, actor, reason, state]),
      [
        ['resume', 'close-day', 'bob', 'the bank is back', 'done'],
        ['pause', 'close-day', 'anne', 'ticket 7', 'done'],
      ],
    );
    assert.match(acts[1]?.detail ?? '', /"until":"1h"/);
    const listed = (await call('history --acts')).stdout;
    assert.match(listed, /^3 acts · times in /);
    assert.match(
      listed,
      /release +lock other +anne +done +ticket 7\n.* resume +close-day +bob +done +the bank is back\n.* pause +close-day +anne +done +ticket 7\n$/,
    );
    await prints('history close-day', /· resume +bob +the bank is back\n.* · pause +anne +ticket 7\n/);
    const site = siteOf(guard);
    for (const page of ['?job=close-day', '?lock=close-day']) {
      const { text } = await site.get(page);
      assert.match(
        text,
        /Acts of operators[^]*resume close-day[^]*bob[^]*the bank is back[^]*pause close-day/,
        page,
      );
    }
    assert.match((await site.get('?lock=other')).text, /Acts of operators[^]*release lock other[^]*ticket 7/);
  },
  EVERY,
);

async function ownerOf(guard: JobGuard, lock: string): Promise<string> {
  return (await guard.locks.inspect(lock))?.lockedBy.split('/').slice(0, 2).join('/') ?? '';
}

testOperated(
  'without the table of acts, an act on a lock is done and reports it, and a rerun changes nothing',
  async (bench) => {
    const { guard, call, json, query, runDaysAgo } = bench;
    const period = await runDaysAgo('bill', 1, new Error('no disk'));
    await query('DROP TABLE cronlatch_run_act');
    const warnings: string[] = [];
    guard.on('guard:warning', ({ message }) => void warnings.push(message));
    await held(guard, 'stuck');
    const { text, act } = await operations(guard).release({ lock: 'stuck' }, BY);
    assert.match(text, /^Released\. Not recorded: .*'cronlatch_run_act'.* npx cronlatch init/);
    assert.deepEqual([act, warnings], [undefined, ['Could not record release by anne.']]);
    assert.equal((await guard.locks.inspect('stuck'))?.isHeld, false);
    const paused = await json(`pause --lock books ${ACT}`);
    assert.equal(paused['recorded'], false);
    assert.equal((await guard.locks.inspect('books'))?.isHeld, true);

    const rerun = await call(`rerun bill ${period} ${ACT}`);
    assert.equal(rerun.status, 1);
    assert.match(rerun.stderr, /cronlatch_run_act/);
    assert.equal((await guard.ledger.get({ job: 'bill', periodKey: period }))?.state, 'failed');
    const history = await call('history bill');
    assert.deepEqual([history.status, history.stderr], [0, '']);
    assert.equal((await call('history --acts')).status, 2);
    assert.equal((await siteOf(guard).get('?lock=books')).status, 200);
  },
  EVERY,
);

testOperated(
  'a store of acts that does not answer keeps no lock held, and a rerun from changing',
  async (bench) => {
    const { guard, runDaysAgo } = bench;
    const period = await runDaysAgo('bill', 1, new Error('no disk'));
    const { acts } = ledgerOf(guard).store;
    assert.ok(acts);
    const away = new LockStorageError('The database has not answered.', { outcome: 'unknown' });
    const adding = mock.method(acts, 'add', () => Promise.reject(away));
    await held(guard, 'stuck');
    assert.match(
      (await operations(guard).release({ lock: 'stuck' }, BY)).text,
      /^Released\. Not recorded: The database/,
    );
    await assert.rejects(operations(guard).rerun({ job: 'bill', period }, BY), away);
    assert.equal((await guard.ledger.get({ job: 'bill', periodKey: period }))?.state, 'failed');
    adding.mock.restore();

    mock.method(acts, 'change', () => Promise.reject(away));
    const { text, act } = await operations(guard).rerun({ job: 'bill', period }, BY);
    assert.match(text, /^Done\. It .* Not recorded: The database has not answered\.$/);
    assert.equal(act, undefined);
    assert.equal((await guard.ledger.get({ job: 'bill', periodKey: period }))?.state, 'pending');
  },
);

for (const server of ['mysql', 'postgres'] as const)
  testOperated(
    'a user who may only read the acts releases a lock if it may write to the locks, and else nothing',
    async ({ guard, url, query }) => {
      const prefix = server === 'postgres' ? '' : `${new URL(url).pathname.slice(1)}.`;
      const tables = [
        'shedlock',
        ...['', '_event', '_act', '_notice', '_log'].map((end) => `cronlatch_run${end}`),
      ];
      await withUser(server, { url, ask: query }, async ({ account, url: own }) => {
        for (const table of [...tables, 'cronlatch_job'])
          await query(`GRANT SELECT ON ${prefix}${table} TO ${account}`);
        const create = server === 'postgres' ? createPgGuard : createMysqlGuard;
        await using reader = closing(await create(own, { logger: false, pollInterval: false }));
        await held(guard, 'stuck');
        await assert.rejects(operations(reader).release({ lock: 'stuck' }, BY), LockStorageError);
        assert.equal((await guard.locks.inspect('stuck'))?.isHeld, true);
        assert.deepEqual(await operations(guard).acts(), []);
        await query(`GRANT UPDATE ON ${prefix}shedlock TO ${account}`);
        const { text, act } = await operations(reader).release({ lock: 'stuck' }, BY);
        assert.match(text, /^Released\. Not recorded: .*'release' on lock 'stuck': .*denied/);
        assert.equal(act, undefined);
        assert.equal((await guard.locks.inspect('stuck'))?.isHeld, false);
      });
    },
    [server],
  );

testOperated(
  'of a process that is killed between the row and the effect, nothing claims an effect',
  async (bench) => {
    const { guard, call, url, query, prints } = bench;
    const app = join(dirname(url.replace('sqlite:', '')), 'app.cjs');
    writeFileSync(
      app,
      `const { createJobGuard, BetterSqlite3LockProvider } = require(${JSON.stringify(SQLITE)});
    class Dying extends BetterSqlite3LockProvider {
      async hold() { process.kill(process.pid, 'SIGKILL'); await new Promise(() => {}); }
    }
    const [url, logger] = [${JSON.stringify(url)}, false];
    exports.guard = createJobGuard(url, { logger, pollInterval: false, lockProvider: new Dying(url) });`,
    );
    const killed = await call(`pause --lock books --app ${app} ${ACT}`);
    assert.notEqual(killed.status, 0, killed.stdout);
    assert.equal((await guard.locks.inspect('books'))?.isHeld ?? false, false);
    await prints('history --acts', /pause +lock books +anne +taken by \S+\/\d+ +ticket 7\n$/);
    await query('UPDATE cronlatch_run_act SET lease_until = at');
    const shown = /not known whether it was done/;
    await prints('history --acts', shown);
    assert.equal((await operations(guard).acts())[0]?.state, 'taken');
    await operations(guard).pause({ lock: 'books' }, BY);
    assert.match((await siteOf(guard).get('?lock=books')).text, shown);
  },
);

testOperated(
  'an act that is refused meanwhile ends as refused, with the reason',
  async ({ guard }: Operated) => {
    await held(guard, 'stuck');
    const [one, two] = await Promise.allSettled([
      operations(guard).release({ lock: 'stuck' }, BY),
      operations(guard).release({ lock: 'stuck' }, { actor: 'bob', reason: 'me too' }),
    ]);
    assert.deepEqual([one.status, two.status].sort(), ['fulfilled', 'rejected']);
    for (const end of [one, two])
      assert.ok(end.status === 'fulfilled' || end.reason instanceof InvalidLockUseError);
    const acts = await operations(guard).acts();
    assert.deepEqual(acts.map(({ state }) => state).sort(), ['done', 'refused']);
    assert.match(
      acts.find(({ state }) => state === 'refused')?.outcome ?? '',
      /^Lock 'stuck' was not released/,
    );
  },
);

testOperated(
  'with 4,000 notices that wait, a requested job starts at the next check',
  async ({ guard, query }) => {
    for (let from = 0; from < 4000; from += 500) {
      const rows = Array.from(
        { length: 500 },
        (_, more) => `('n${from + more}.0', 'n${from + more}.0')`,
      ).join(', ');
      await query(`INSERT INTO cronlatch_run_notice
      (id, at, actor, verb, job_name, scope, reason, state, open_key, due_at, expires_at, tries)
      WITH n(id, open_key) AS (VALUES ${rows})
      SELECT id, 1, 'web-1', 'notice', 'report', '', 'late', 'open', open_key, 1, 9000000000000000, 0 FROM n`);
    }
    const ran: string[] = [];
    const report = { name: 'report', lockAtMostFor: '1m', oncePer: { period: 'tick' } } as const;
    guard.wrap(report, () => void ran.push('report'));
    await guard.runOverdue();
    await operations(guard).run({ job: 'report' }, BY);
    await guard.runOverdue();
    assert.deepEqual([ran, (await lastAct(guard, 'report'))?.state], [['report'], 'done']);
  },
);
