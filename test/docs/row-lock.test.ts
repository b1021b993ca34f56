import assert from 'node:assert/strict';
import { testCodeOn } from '../support/checks/page-tests';
import { databaseOn, testOn } from '../support/databases/fresh';
import { start } from './row-lock/row-locks';

testCodeOn('docs/row-lock.md', 'test/docs/row-lock');

testOn('mysql', 'the guard of the page runs a job under a row lock', async () => {
  const database = await databaseOn('mysql');
  const started = await start(database.url);
  const { guard } = started;
  const result = await guard.run({ name: 'close-day', lockAtMostFor: '10m' }, async () => {
    const inside = await guard.run({ name: 'other', lockAtMostFor: '10m' }, () => 'done');
    return inside.executed && inside.value;
  });
  assert.deepEqual(result, { executed: true, value: 'done' });
  await started.close();
  await database.dispose();
});
