/** Prints how many source files a warm call passes. It fails only if they cannot be measured. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { closing } from './support/benches/closing';
import { mysqlDatabase } from './support/databases/fresh';
import { runningServer } from './support/servers/running';

async function walk(t: TestContext, ...address: string[]): Promise<void> {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/walk.mjs', ...address]);
  const measured = stdout.match(/^.+: \d+ files, \d+ functions, \d+ calls$/gm) ?? [];
  for (const line of measured) t.diagnostic(line);
  console.log(stdout);
  assert.equal(measured.length, 3);
  assert.match(stdout, /^ {2}core\/lease\/acquisition\.ts$/m);
}

void test('the source files that a warm call passes are counted', async (t) => {
  if (runningServer('mysql') === undefined) return await walk(t);
  await using database = closing(await mysqlDatabase());
  await walk(t, database.url);
});
