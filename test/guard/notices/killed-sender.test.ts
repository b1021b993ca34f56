import assert from 'node:assert/strict';
import type { JobGuard } from 'cronlatch';
import { webhook } from 'cronlatch/notify';
import { operations } from 'cronlatch/operations';
import { Child } from '../../processes/child';
import type { NotifierOrders } from '../../processes/fixtures/notifier';
import { closing } from '../../support/benches/closing';
import { testDrivers, type DriverBench } from '../../support/benches/driver';
import { eventually } from '../../support/clocks/eventually';
import type { DatabaseName } from '../../support/databases/fresh';
import { ANSWERS, isSigned, Receiver } from '../../support/servers/receiver';

const SECRET = 'top-secret-signing-key';

interface Fleet extends DriverBench {
  readonly receiver: Receiver;
  /** An instance that sends to the receiver. */
  readonly instance: () => Promise<JobGuard>;
  /** Another one, in a process of its own. Its run fails permanently. */
  readonly failing: (orders: Pick<NotifierOrders, 'diesBeforeSending'>) => Child<never>;
  /** Lets the lock of the killed sender, and what it has taken, expire. */
  readonly expire: () => Promise<unknown>;
}

function testFleet(name: string, body: (fleet: Fleet) => Promise<void>, on?: readonly DatabaseName[]): void {
  testDrivers(
    name,
    async (bench) => {
      await bench.createTables();
      await using receiver = closing(await Receiver.open());
      const { driver, url } = bench;
      const guards: JobGuard[] = [];
      const children: Child<never>[] = [];
      try {
        await body({
          ...bench,
          receiver,
          async instance() {
            const notify = webhook({ url: receiver.url, secret: SECRET });
            const guard = await bench.createJobGuard(url, { notify, logger: false, pollInterval: false });
            guards.push(guard);
            return guard;
          },
          failing({ diesBeforeSending }) {
            const argument = { driver, url, receiver: receiver.url, diesBeforeSending };
            const child = new Child<never>('notifier.js', { argument });
            children.push(child);
            return child;
          },
          async expire() {
            await bench.query(`UPDATE shedlock SET lock_until = locked_at WHERE name = 'cronlatch-notices'`);
            await bench.query(`UPDATE cronlatch_run_notice SET lease_until = at WHERE state = 'taken'`);
          },
        });
      } finally {
        for (const child of children) await child.end();
        for (const guard of guards) await guard.close();
      }
    },
    on,
  );
}

testFleet('a sender that dies before the send is replaced when its lease has expired', async (fleet) => {
  const { receiver, instance, failing, expire } = fleet;
  const child = failing({ diesBeforeSending: true });
  assert.deepEqual(await child.ended, [null, 'SIGKILL']);
  const guard = await instance();
  await guard.runOverdue();
  assert.equal(receiver.received.length, 0);
  await expire();
  await guard.runOverdue();
  await guard.runOverdue();
  assert.deepEqual(
    receiver.notices.map(({ kind, job }) => [kind, job]),
    [['failed', 'close-day']],
  );
});

testFleet('a sender that dies after the send is repeated with the same id', async (fleet) => {
  const { receiver, instance, failing, expire } = fleet;
  receiver.answer = ANSWERS.hangs;
  const child = failing({ diesBeforeSending: false });
  await receiver.requests(1);
  await child.end();
  receiver.answer = ANSWERS.ok;
  const guard = await instance();
  await guard.runOverdue();
  assert.equal(receiver.received.length, 1);
  await expire();
  await guard.runOverdue();
  await guard.runOverdue();
  const [first, second, ...more] = receiver.received;
  assert.ok(first && second && more.length === 0);
  assert.ok(isSigned(first, SECRET) && isSigned(second, SECRET));
  assert.equal(first.headers['webhook-id'], second.headers['webhook-id']);
  assert.deepEqual(first.notice, second.notice);
});

testFleet('of four instances that notice the same, one sends', async (fleet) => {
  const { receiver, instance } = fleet;
  const guards = await Promise.all([instance(), instance(), instance(), instance()]);
  const oncePer = { period: 'day', timeZone: 'UTC', retry: { maxAttempts: 1 } } as const;
  const job = { name: 'close-day', lockAtMostFor: '1m', oncePer } as const;
  await guards[0]?.run(job, () => assert.fail('no disk')).catch(() => {});
  await Promise.all(guards.map((guard) => guard.runOverdue()));
  await Promise.all(guards.map((guard) => guard.runOverdue()));
  assert.equal(receiver.received.length, 1);
});

const LOCK = { lock: 'close-day' };
const BY_ANNE = { actor: 'anne', reason: 'audit' };

testFleet('a pause that an operator has ended is not noticed at the time of its end', async (fleet) => {
  const { receiver, instance, query } = fleet;
  const guard = await instance();
  await operations(guard).pause(LOCK, { ...BY_ANNE, until: '1h' });
  await guard.runOverdue();
  await operations(guard).resume(LOCK, BY_ANNE);
  await query(`UPDATE cronlatch_run_notice SET due_at = at`);
  await guard.runOverdue();
  const states = await query(`SELECT state FROM cronlatch_run_notice`);
  assert.deepEqual([states.map((row) => ({ ...row })), receiver.received], [[{ state: 'withdrawn' }], []]);
});

testFleet(
  'a pause that ends by the clock of the database is noticed once',
  async ({ receiver, instance }) => {
    const guards = [await instance(), await instance()] as const;
    const until = new Date(Date.now() + 15_000);
    await operations(guards[0]).pause(LOCK, { ...BY_ANNE, until: until.toISOString() });
    await eventually(async () => {
      await Promise.all(guards.map((guard) => guard.runOverdue()));
      return receiver.received.length > 0;
    }, 'the notice of the pause');
    assert.ok(Date.now() >= until.getTime() - 1000);
    await Promise.all(guards.map((guard) => guard.runOverdue()));
    assert.deepEqual(
      receiver.notices.map(({ kind, job }) => [kind, job]),
      [['hold-ended', 'close-day']],
    );
  },
  ['postgres'],
);

testFleet('without the table, notices are reported once, and jobs run', async (fleet) => {
  const { query, instance, receiver } = fleet;
  await query('DROP TABLE cronlatch_run_notice');
  const guard = await instance();
  const warnings: { message: string; error?: unknown }[] = [];
  guard.on('guard:warning', (event) => void warnings.push(event));
  await guard.run({ name: 'close-day', lockAtMostFor: '1m' }, () => 1);
  await operations(guard).pause(LOCK, { ...BY_ANNE, until: '1h' });
  await guard.runOverdue();
  await guard.runOverdue();
  const [warning, ...more] = warnings.filter(({ message }) => message.includes('notices'));
  assert.deepEqual([more, receiver.received.length], [[], 0]);
  assert.match(String(warning?.error), /'cronlatch_run_notice'.+Create it with npx cronlatch init/);
});
