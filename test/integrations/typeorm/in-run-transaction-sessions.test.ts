import assert from 'node:assert/strict';
import { inRunTransaction } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { JOB, testServerTransactions, testTransactions } from '../../support/benches/transaction';
import { makeEffect } from '../../support/databases/effects';
import { MYSQL, number, WORDS } from '../../support/databases/session-words';
import { statementLog } from '../../support/databases/statement-log';

const ONE_CONNECTION = { poolSize: 1 };

testServerTransactions(
  'the idle limit inside is that of the lease, and is restored afterwards, on the same connection',
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

testTransactions(
  'texts are stored unchanged in sessions with other string settings',
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

for (const completionType of ['CHAIN', 'RELEASE']) {
  testTransactions(
    `in a session with completion_type ${completionType}, COMMIT ends the transaction, and does not begin another`,
    async (bench) => {
      const id = await number(bench.application, MYSQL.id);
      await bench.application.query(`SET SESSION completion_type = '${completionType}'`);
      await bench.run(() => inRunTransaction((manager) => bench.effect(manager)));
      assert.equal(await number(bench.application, MYSQL.id), id);
      await makeEffect(bench.application, { periodKey: 'tomorrow', attempt: 7 });
      assert.deepEqual(await bench.effects(), [1, 7], 'a statement is committed automatically');
      const [settings] = await bench.application.query<unknown[]>('SELECT @@completion_type AS kept');
      assert.deepEqual(settings, { kept: completionType });
      assert.deepEqual(bench.eventsOf('guard:warning'), []);
    },
    { on: ['mysql', 'mariadb'], application: ONE_CONNECTION },
  );
}

testTransactions(
  'a subscriber that throws after the transaction has begun leaves no open transaction in the pool',
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
    assert.deepEqual(await bench.effects(), [1], 'a statement is committed automatically');
  },
  { application: ONE_CONNECTION },
);

testTransactions(
  'a subscriber that throws after COMMIT was answered does not change the commit',
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
    await using log = closing(await statementLog(kind, database));
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
    // The peek, the lock, the claim, and the release.
    assert.deepEqual(
      [...verbs.slice(0, verbs.indexOf('START')), verbs.at(-1)],
      ['SELECT', kind === 'postgres' ? 'WITH' : 'UPDATE', 'INSERT', 'UPDATE'],
    );
  },
);
