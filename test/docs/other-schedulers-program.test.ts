import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { testCodeOn } from '../support/checks/page-tests';
import { testWith, type TestDatabase } from '../support/databases/fresh';
import { ledgerDataSource } from '../support/databases/run-tables';

interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
  /** What the program wrote to stderr. */
  readonly errors: string;
}

const COMPILED = join(__dirname, 'other-schedulers');
/** JavaScript is not compiled. */
const SOURCES = join('test', 'docs', 'other-schedulers');

/** What the recipes import, or what starts them, and is not theirs. */
const NOT_SHOWN = ['close-the-day.ts', 'ormconfig.ts', 'start-and-stop.ts'];
testCodeOn('docs/other-schedulers.md', SOURCES, NOT_SHOWN);

/** A program of the page, started once, as a Unix cron or Kubernetes does. */
async function start(
  { environment }: TestDatabase,
  settings: Readonly<Record<string, string>> = {},
  { kill, program = 'close-day' }: { kill?: NodeJS.Signals; program?: string } = {},
): Promise<Ending> {
  const script = program.endsWith('.mjs') ? join(SOURCES, program) : join(COMPILED, `${program}.js`);
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, DATABASE_URL: undefined, ...environment, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  if (kill !== undefined) child.stdout.once('data', () => child.kill(kill)); // It is in its job.
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code, signal] = await ended;
  const printed = output
    .trimEnd()
    .split('\n')
    .filter((line) => !/^cronlatch \S+ (run:completed: |guards )/.test(line));
  return { code, signal, output: printed.join('\n'), errors };
}

function testProgram(name: string, body: (database: TestDatabase) => Promise<void>): void {
  testWith('sqlite', name, async (database) => {
    const dataSource = await ledgerDataSource(database);
    await dataSource.destroy();
    await body(database);
  });
}

/** Noon, two days ago. */
const DATE = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10);
const JOB_NAME = `close-day-${Date.parse(`${DATE}T12:00:00Z`) / 60_000}`;

testProgram('a day that is done is not done by the next start, nor by one beside it', async (database) => {
  const both = await Promise.all([start(database, { JOB_NAME }), start(database, { JOB_NAME })]);
  assert.equal(both.filter(({ output }) => output.includes('closing')).length, 1);
  const after = await start(database, { JOB_NAME });
  assert.deepEqual(after, { code: 0, signal: null, output: 'skipped: already-completed', errors: '' });
});

testProgram('it counts for the minute that Kubernetes meant, and else for today', async (database) => {
  const late = await start(database, { JOB_NAME });
  assert.deepEqual(late, { code: 0, signal: null, output: `closing ${DATE}`, errors: '' });
  const byHand = await start(database, { JOB_NAME: 'close-day-by-hand' });
  assert.match(byHand.output, /^closing 20\d\d-\d\d-\d\d$/);
  assert.notEqual(byHand.output, late.output);
  const dated = await start(database, { JOB_NAME: 'close-day-20261124' });
  assert.deepEqual([dated.code, dated.output], [1, '']);
  assert.match(dated.errors, /'close-day-20261124' is not a minute near now, but in 2008\./);
});

testProgram('a failure has an exit status, and so has a day whose retry is due later', async (database) => {
  const failed = await start(database, { CLOSING: 'fails' });
  assert.equal(failed.code, 1);
  assert.match(failed.errors, /the books are not complete/);
  const early = await start(database);
  assert.deepEqual([early.code, early.output], [75, 'skipped: not-due']);
});

testProgram(
  'SIGTERM asks the job to stop, its lock is free, and the next start runs the day',
  async (database) => {
    const stopped = await start(database, { CLOSING: 'takes an hour' }, { kill: 'SIGTERM' });
    assert.deepEqual([stopped.code, stopped.signal], [null, 'SIGTERM']);
    const next = await start(database);
    assert.equal(next.code, 0);
    assert.match(next.output, /^closing \d{4}-\d\d-\d\d$/);
  },
);

testProgram('an application that starts and stops like this leaves nothing behind', async (database) => {
  const ending = await start(database, {}, { program: 'start-and-stop' });
  assert.deepEqual(ending, { code: 0, signal: null, output: 'started\nstopped', errors: '' });
});

testProgram('the plain JavaScript of the page runs its job once a day', async (database) => {
  const ending = await start(database, {}, { program: 'plain.mjs' });
  assert.deepEqual(ending, { code: 0, signal: null, output: 'closing the day', errors: '' });
});
