import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { closing } from '../../../support/benches/closing';
import { aborted, JOB, RowLocks } from '../../../support/benches/row-locks';
import { testOn } from '../../../support/databases/fresh';
import { throughProxy } from '../../../support/faults/tcp-proxy';
import { pgbouncerBefore } from '../../../support/servers/own';
import { withStarted } from '../../../support/servers/test-on';

/** A test behind a pooler. Without the pooler it is skipped, and the run reports it at its end. */
function testBehind(
  mode: 'transaction' | 'statement',
  name: string,
  body: (locks: RowLocks, pooler: { readonly port: number }) => Promise<void>,
): void {
  testOn('postgres', `behind PgBouncer in ${mode} mode, ${name}`, async (t: TestContext) => {
    await using locks = closing(await RowLocks.on('postgres'));
    const start = () => pgbouncerBefore(locks.database.url, mode);
    await withStarted(t, 'pgbouncer', start, ({ url }) => body(locks, { port: Number(new URL(url).port) }));
  });
}

testBehind(
  'transaction',
  'locks exclude one another, and no session keeps a setting',
  async (locks, pooler) => {
    const [provider, other] = [locks.provider({}, pooler), locks.provider({}, pooler)];
    for (let round = 1; round <= 5; round += 1) {
      const lock = await provider.lock(JOB);
      assert.equal(await other.lock(JOB), undefined);
      assert.equal(await lock?.extend('10m'), true);
      assert.equal(await lock?.unlock(), true);
      const next = await other.lock(JOB);
      assert.ok((next?.fencingToken ?? 0) > (lock?.fencingToken ?? Infinity));
      assert.equal(await next?.unlock(), true);
    }
    assert.deepEqual(await settingsBehind(locks, pooler), ['0', '0', '0']);
    const lock = await provider.lock(JOB);
    await locks.database.ask(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${locks.database.name}' AND state = 'idle in transaction'`,
    );
    await aborted(lock?.signal ?? AbortSignal.abort());
    assert.ok(await other.lock(JOB));
  },
);

testBehind('statement', 'a lock is refused with an error', async (locks, pooler) => {
  const provider = locks.provider({}, pooler);
  await assert.rejects(provider.lock(JOB), (error: Error & { code?: string; outcome?: string }) => {
    assert.deepEqual([error.code, error.outcome], ['CRONLATCH_STORAGE', 'nothing-ran']);
    assert.match(error.message, /transaction blocks not allowed in statement pooling mode/);
    return true;
  });
});

/** The time limits that another client of the pooler finds. */
async function settingsBehind({ database }: RowLocks, pooler: { readonly port: number }): Promise<unknown[]> {
  const client = new Client({ connectionString: throughProxy(database.url, pooler) });
  await client.connect();
  const names = ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout'];
  const settings = [];
  for (const name of names)
    settings.push((await client.query<Record<string, unknown>>(`SHOW ${name}`)).rows[0]?.[name]);
  await client.end();
  return settings;
}
