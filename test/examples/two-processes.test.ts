import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { sqliteDatabase } from '../support/databases';
import { eventually } from '../support/eventually';

const EXAMPLE = join(__dirname, '../../examples/05-two-processes.js');

void test('05-two-processes: when the parent is killed, its workers end too', async (t) => {
  const database = sqliteDatabase();
  const workers: number[] = [];
  t.after(async () => {
    for (const pid of workers.filter(isAlive)) process.kill(pid, 'SIGKILL');
    await database.dispose();
  });
  const parent = spawn(process.execPath, [EXAMPLE], {
    env: { ...process.env, DATABASE_URL: undefined, ...database.environment },
  });
  const complaints = text(parent.stderr);
  for await (const line of createInterface(parent.stdout)) {
    const [, pid] = /^\w+ is process (\d+)$/.exec(line) ?? [];
    if (pid !== undefined) workers.push(Number(pid));
    if (line.includes(' runs ')) break;
  }
  parent.kill('SIGKILL');
  assert.equal(workers.length, 2);
  await eventually(() => !workers.some(isAlive), 'both workers are gone');
  assert.equal(await complaints, '');
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
