import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { currentRun } from 'cronlatch';
import type { Run } from 'cronlatch/provider';
import { checkCloseOptions } from '#cronlatch/guard/closing/closing';
import { codeBlocksOf, tableOf } from '../support/checks/page';
import { testWith } from '../support/databases/fresh';
import { migratedDataSource } from '../support/databases/lock-table';
import { ledgerPlace, memoryStores } from '../support/stores/ledger-place';

const PAGE = 'docs/deploying.md';
const FILES = 'test/docs/deploying';
/** What the program on the page imports. */
const NOT_SHOWN = ['billing-jobs.ts', 'ormconfig.ts'];
/** The guard waits for jobs, and then, no longer than this, for its connections to close. */
const LONGEST_CLOSE_SECONDS = checkCloseOptions({}).timeoutMs / 1000 + 5;

const fileOf = (name: string): string => readFileSync(join(FILES, name), 'utf8');

function numberIn(name: string, pattern: RegExp): number {
  const [, found] = pattern.exec(fileOf(name)) ?? [];
  return Number(found?.replaceAll('_', ''));
}

/** The files on the page: each begins with its name, in a comment. */
function shownFiles(): Map<string, string> {
  const shown = codeBlocksOf(PAGE).map(({ path, text }): [string, string] => {
    if (path !== undefined) return [path, text];
    const [comment = '', name = ''] = /^# (\S+)\n/.exec(text) ?? [];
    return [name, text.slice(comment.length)];
  });
  return new Map(shown);
}

void test('every file on the page is one that is tested', () => {
  const shown = shownFiles();
  const files = readdirSync(FILES).filter((file) => !NOT_SHOWN.includes(file));
  assert.deepEqual([...shown.keys()].sort(), files);
  for (const [name, text] of shown) assert.equal(text, fileOf(name), name);
});

void test('PM2, Kubernetes and systemd leave the guard the time that it takes to close', () => {
  const preStop = numberIn('deployment.yaml', /'sleep', '(\d+)'/);
  const periods = {
    pm2: numberIn('ecosystem.config.js', /kill_timeout: ([\d_]+)/) / 1000,
    deployment: numberIn('deployment.yaml', /terminationGracePeriodSeconds: (\d+)/) - preStop,
    cronJob: numberIn('cronjob.yaml', /terminationGracePeriodSeconds: (\d+)/),
    systemd: numberIn('billing.service', /TimeoutStopSec=(\d+)/),
  };
  for (const [who, seconds] of Object.entries(periods)) assert.ok(seconds > LONGEST_CLOSE_SECONDS, who);
});

void test('the page marks the defaults that are too short', () => {
  const rows = tableOf(PAGE, 'who');
  assert.equal(rows.length, 4);
  for (const [who, , period = '', , suffices] of rows) {
    const seconds = Number(/^[\d.]+/.exec(period)?.[0]);
    assert.equal(suffices, seconds > LONGEST_CLOSE_SECONDS ? 'yes' : 'no', who);
  }
});

/** How a once-per job behaves while its guard closes, and the state of its run on the page. */
const AT_THE_END: Readonly<Record<string, readonly [() => Promise<void>, Partial<Run>]>> = {
  'sees its signal and throws': [
    () => aborted().then(() => Promise.reject(new Error('stopped'))),
    { state: 'failed', attempt: 1 },
  ],
  'rejects with its abort': [
    () => aborted().then(() => currentRun().signal.throwIfAborted()),
    { state: 'pending', attempt: 0 },
  ],
  'sees its signal and gives back': [
    () => aborted().then(() => currentRun().giveBack()),
    { state: 'pending', attempt: 0 },
  ],
  'goes on': [() => new Promise(() => {}), { state: 'running', attempt: 1 }],
};

async function aborted(): Promise<void> {
  const { signal } = currentRun();
  if (!signal.aborted) await once(signal, 'abort');
}

for (const [behaviour, [job, outcome]] of Object.entries(AT_THE_END)) {
  void test(`a job that ${behaviour} when its guard closes`, async () => {
    const { place, close } = ledgerPlace(memoryStores('2026-11-20T03:00:00Z'));
    const instance = place.instance();
    const { guard } = instance;
    const oncePer = { period: 'day', timeZone: 'Europe/Paris' } as const;
    const started = new Promise((resolve) => guard.on('run:started', resolve));
    void guard.wrap({ name: 'close-day', lockAtMostFor: '30s', oncePer }, job)();
    await started;
    const closing = guard.close();
    await turn();
    await place.elapse('15s'); // The signal aborts.
    await turn();
    await place.elapse('5s');
    const { settled } = await closing;
    const { state, attempt, nextAttemptAt } = (await guard.ledger.last('close-day')) ?? {};
    assert.deepEqual({ state, attempt }, outcome);
    const isReleased = state !== 'running';
    assert.equal(settled.length, isReleased ? 1 : 0);
    assert.equal(instance.of('lock:released').length, isReleased ? 1 : 0);
    if (state === 'pending') assert.ok(nextAttemptAt !== undefined && nextAttemptAt <= place.clock.now());
    await close();
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

testWith(
  'sqlite',
  'the program is ready, reports during a job that it is closing, and ends by the signal',
  async (database) => {
    await (await migratedDataSource(database)).destroy();
    const port = await freePort();
    const program = fork(join(__dirname, 'deploying/main.js'), {
      env: { ...process.env, DATABASE_URL: undefined, ...database.environment, PORT: String(port) },
    });
    const ended = once(program, 'exit');
    const statusOf = async (path: string): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })).status;
    const messages = new Set<unknown>();
    program.on('message', (message) => messages.add(message));
    try {
      while (!messages.has('ready') || !messages.has('in the job'))
        await once(program, 'message', { signal: AbortSignal.timeout(60_000) });
      assert.equal(await statusOf('/ready'), 200);
      program.kill('SIGTERM');
      while ((await statusOf('/ready')) !== 503); // It has taken the signal then.
      assert.equal(await statusOf('/alive'), 200);
      program.send('finish');
      assert.deepEqual(await ended, [null, 'SIGTERM']);
    } finally {
      program.kill('SIGKILL');
    }
  },
);
