import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTables } from 'cronlatch/mysql2';
import { createConnection } from 'mysql2/promise';
import { headerOf, patternOf } from '../examples/header';
import { codeBlocksOf } from '../support/checks/page';
import { databaseOn, testOn } from '../support/databases/fresh';

// test/faults/examples/why-not.test.ts runs the examples on the servers.
for (const name of ['why-not-for-update', 'why-not-one-transaction'])
  void test(`docs/${name}.md shows the command and two outputs of its example`, () => {
    const { command, printed } = headerOf(name);
    const blocks = codeBlocksOf(`docs/${name}.md`);
    assert.deepEqual(
      blocks.filter(({ language }) => language === 'sh').map(({ text }) => text.trim()),
      [command],
    );
    const outputs = blocks.filter(({ language }) => language === 'text');
    assert.equal(outputs.length, 2);
    for (const { text } of outputs) assert.match(text, patternOf(printed[0] ?? []));
  });

for (const server of ['mysql', 'mariadb'] as const)
  testOn(
    server,
    'a lock that is inserted in a transaction makes the insert of another instance wait for the commit',
    async (t) => {
      const database = await databaseOn(server);
      t.after(() => database.dispose());
      await createTables(database.url);
      const [holder, other] = await Promise.all([
        createConnection(database.url),
        createConnection(database.url),
      ]);
      t.after(async () => {
        await holder.end();
        await other.end();
      });
      const insert = `INSERT INTO shedlock (name, lock_until, locked_at, locked_by)
        VALUES ('job', UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE, UTC_TIMESTAMP(6), 'me')`;
      await holder.beginTransaction();
      await holder.query(insert);
      await other.query('SET SESSION innodb_lock_wait_timeout = 1');
      await assert.rejects(other.query(insert), { code: 'ER_LOCK_WAIT_TIMEOUT' });
      await holder.commit();
      await assert.rejects(other.query(insert), { code: 'ER_DUP_ENTRY' });
    },
  );
