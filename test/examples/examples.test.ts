import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { mysqlDatabase, sqliteDatabase, testOn, type TestDatabase } from '../support/databases';

/** What an example prints. Rejects if it ends with another status than 0, or not at all. */
async function outputOf(t: TestContext, example: string, database: TestDatabase): Promise<string[]> {
  t.after(() => database.dispose());
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [join(__dirname, '../../examples', example)],
    { env: { ...process.env, DATABASE_URL: undefined, ...database.environment }, timeout: 60_000 },
  );
  assert.equal(stderr, '');
  return stdout.trimEnd().split('\n');
}

async function decorator(t: TestContext, database: TestDatabase): Promise<void> {
  assert.deepEqual(await outputOf(t, '01-decorator.js', database), [
    'closing the day, as the first asked',
    'the first call: closed',
    'the second call: skipped',
    'a late call: skipped',
  ]);
}

async function nodeCron(t: TestContext, database: TestDatabase): Promise<void> {
  const lines = await outputOf(t, '02-node-cron.js', database);
  assert.equal(lines.at(0), 'sending invoices');
  assert.equal(lines.at(-1), 'closed');
}

void test('01-decorator: of two calls at once, one runs', (t) => decorator(t, sqliteDatabase()));
void test('02-node-cron: a job runs at its ticks, and the process ends', (t) =>
  nodeCron(t, sqliteDatabase()));
testOn('mysql', '01-decorator: of two calls at once, one runs', async (t) =>
  decorator(t, await mysqlDatabase()),
);
testOn('mysql', '02-node-cron: a job runs at its ticks, and the process ends', async (t) =>
  nodeCron(t, await mysqlDatabase()),
);
