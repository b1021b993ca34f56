import assert from 'node:assert/strict';
import { once } from 'node:events';
import { currentRun } from 'cronlatch';
import { createJobGuard, inRunTransaction } from 'cronlatch/typeorm';
import type { ServerName } from '../../support/databases';
import { eventually } from '../../support/eventually';
import { makeEffect, type Queryable } from '../../support/effects';
import { reasonOf } from '../../support/guard-bench';
import { statementLog } from '../../support/statement-log';
import { JOB, testServerTransactions, testTransactions } from '../../support/transaction-bench';

const ONE_CONNECTION = { poolSize: 1 };

/** How each server says how long it lets a session be, and who it is. */
interface Words {
  readonly set: string;
  readonly limitMs: string;
  readonly id: string;
  readonly sessions: string;
}

const MYSQL: Words = {
  set: 'SET SESSION wait_timeout = 12345',
  limitMs: 'SELECT @@SESSION.wait_timeout * 1000 AS value',
  id: 'SELECT CONNECTION_ID() AS value',
  sessions: 'SELECT id AS value FROM information_schema.processlist',
};

const WORDS: Readonly<Record<ServerName, Words>> = {
  mysql: MYSQL,
  mariadb: MYSQL,
  postgres: {
    set: `SET idle_in_transaction_session_timeout = '12345s'`,
    limitMs: `SELECT setting AS value FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'`,
    id: 'SELECT pg_backend_pid() AS value',
    sessions: 'SELECT pid AS value FROM pg_stat_activity',
  },
};

async function numbers(where: Queryable, text: string): Promise<number[]> {
  return ((await where.query(text)) as { value: unknown }[]).map(({ value }) => Number(value));
}

async function number(where: Queryable, text: string): Promise<number> {
  const [first = NaN] = await numbers(where, text);
  return first;
}

testServerTransactions(
  'the idle limit is that of the lease inside, and what it was afterwards, on the same connection',
  async ({ kind, open }) => {
    const bench = await open({ application: ONE_CONNECTION });
    const { application } = bench;
    const words = WORDS[kind];
    await application.query(words.set);
    const id = await number(application, words.id);
    const inside = async (fails: boolean): Promise<void> => {
      await inRunTransaction(async (manager) => {
        const limitMs = await number(manager, words.limitMs);
        assert.ok(limitMs > 50_000 && limitMs <= 60_000, `${limitMs} ms`);
        await bench.effect(manager);
        if (fails) throw new Error('no bank today');
      });
    };
    const isAsBefore = async (): Promise<void> => {
      assert.equal(await number(application, words.limitMs), 12_345_000);
      assert.equal(await number(application, words.id), id);
    };
    await assert.rejects(bench.run(() => inside(true)));
    await isAsBefore();
    await bench.run(() => inside(false));
    await isAsBefore();
    assert.deepEqual(await bench.effects(), [2]);
  },
);

testServerTransactions(
  'L-24 a lease that is over forbids nothing while nobody has come, and leaves the transaction a second',
  async ({ kind, open }) => {
    const bench = await open();
    await bench.run(
      async () => {
        const { signal } = currentRun();
        if (!signal.aborted) await once(signal, 'abort');
        await inRunTransaction(async (manager) => {
          assert.equal(await number(manager, WORDS[kind].limitMs), 1000);
          await bench.effect(manager);
        });
      },
      { lockAtMostFor: '1s' },
    );
    assert.equal((await bench.row()).state, 'completed');
    assert.deepEqual(await bench.effects(), [1]);
  },
);

for (const moment of ['before its first write', 'after its effects', 'before COMMIT'] as const) {
  testServerTransactions(
    `L-20 the server ends a transaction that idles ${moment} for longer than the lease, and another instance does the run`,
    async ({ kind, open }) => {
      const bench = await open();
      const other = await createJobGuard(bench.operator, { dueEvery: false, logger: false });
      const job = { ...JOB, lockAtMostFor: '2s' };
      const idle = async (id: number): Promise<void> => {
        await eventually(async () => {
          const again = (): Promise<void> => inRunTransaction((manager) => bench.effect(manager));
          const result = await other.run(job, again).catch(() => undefined); // The row may be locked still.
          return result?.executed ?? false;
        }, 'the other instance runs');
        const isGone = async (): Promise<boolean> =>
          !(await numbers(bench.operator, WORDS[kind].sessions)).includes(id);
        await eventually(isGone, 'the server has ended the connection');
      };
      let id = NaN;
      if (moment === 'before COMMIT') {
        bench.application.subscribers.push({ beforeTransactionCommit: () => idle(id) });
      }
      const thrown = await reasonOf(
        bench.run(
          () =>
            inRunTransaction(async (manager) => {
              id = await number(manager, WORDS[kind].id);
              if (moment === 'before its first write') await idle(id);
              await bench.effect(manager);
              if (moment === 'after its effects') await idle(id);
            }),
          job,
        ),
      );
      assert.ok(thrown instanceof Error);
      await other.close();
      assert.deepEqual(await bench.effects(), [2]);
      assert.equal((await bench.row()).state, 'completed');
      assert.equal((await bench.application.query<unknown[]>(WORDS[kind].id)).length, 1, 'the pool works');
    },
  );
}

testTransactions(
  'texts are kept as they are in sessions that read them otherwise',
  async (bench) => {
    await bench.application.query(
      `SET NAMES latin1, SESSION sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES,ANSI_QUOTES')`,
    );
    const value = `it's \\' "so" \\\\ é 𝄞 ? :job \n`;
    await bench.run(() =>
      inRunTransaction(async (manager) => {
        const [mode] = await manager.query<{ mode: string }[]>('SELECT @@sql_mode AS mode');
        assert.match(mode?.mode ?? '', /NO_BACKSLASH_ESCAPES/);
        await bench.effect(manager);
        return value;
      }),
    );
    assert.equal(JSON.parse((await bench.row()).result ?? 'null'), value);
  },
  { on: ['mysql', 'mariadb'], application: ONE_CONNECTION },
);

testTransactions(
  'a subscriber that throws when the transaction has begun leaves no open transaction in the pool',
  async (bench) => {
    bench.application.subscribers.push({
      afterTransactionStart: () => Promise.reject(new Error('no subscriber today')),
    });
    await assert.rejects(
      bench.run(() => inRunTransaction((manager) => bench.effect(manager))),
      /no subscriber today/,
    );
    bench.application.subscribers.length = 0;
    await makeEffect(bench.application, { periodKey: 'tomorrow', attempt: 1 });
    assert.deepEqual(await bench.effects(), [1], 'a statement is committed by itself');
  },
  { application: ONE_CONNECTION },
);

testTransactions(
  'a subscriber that throws when COMMIT has been answered changes nothing of it',
  async (bench) => {
    bench.application.subscribers.push({
      afterTransactionCommit: () => Promise.reject(new Error('no subscriber today')),
    });
    await bench.run(async () => {
      const done = inRunTransaction((manager) => bench.effect(manager));
      await assert.rejects(done, /no subscriber today/);
    });
    assert.deepEqual(await bench.effects(), [1]);
    assert.equal((await bench.row()).state, 'completed');
  },
);

testServerTransactions(
  'a transactional run costs six statements around its work',
  async ({ kind, database, open }) => {
    const log = await statementLog(kind, database);
    try {
      const bench = await open({ application: { url: log.url } });
      const handler = (): Promise<void> => inRunTransaction((manager) => bench.effect(manager));
      const next = (periodKey: string): Promise<unknown> =>
        bench.run(handler, { oncePer: { ...JOB.oncePer, period: () => periodKey } });
      await next('yesterday');
      log.statements();
      await next('today');
      const verbs = log.statements().map((text) => text.trim().replace(/\s.*/s, ''));
      const ofTransaction = verbs.slice(verbs.indexOf('START'), -1);
      const idleLimit = kind === 'postgres' ? [] : ['SET'];
      const probe = kind === 'postgres' ? 'SELECT' : 'DO';
      assert.deepEqual(ofTransaction, ['START', 'SET', 'INSERT', probe, 'UPDATE', 'COMMIT', ...idleLimit]);
      // The look, the lock, the claim, and the release.
      assert.deepEqual(
        [...verbs.slice(0, verbs.indexOf('START')), verbs.at(-1)],
        ['SELECT', 'UPDATE', 'INSERT', 'UPDATE'],
      );
    } finally {
      await log.close();
    }
  },
);
