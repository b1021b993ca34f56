import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operations } from 'cronlatch/operations';
import { createJobGuard } from 'cronlatch/typeorm';
import { Child } from '../../processes/child';
import type { RequestedJob, RequestedMessage, RequestedOrders } from '../../processes/fixtures/requested-app';
import { closing } from '../../support/benches/closing';
import { eventually } from '../../support/clocks/eventually';
import { testOnEvery } from '../../support/databases/fresh';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { BY } from '../../support/jobs/acts';

const DAY = { period: 'day', timeZone: 'Asia/Shanghai' } as const;
const TICK = { period: 'tick' } as const;
const INSTANCES = 8;
const ITS_LEASE_HAS_EXPIRED = `UPDATE cronlatch_run_act SET lease_until = at WHERE state = 'taken'`;

interface Case extends RequestedJob {
  /** What the handlers did: `enter` without `leave` is the process that died. */
  readonly steps: readonly string[];
  readonly request: string;
  /** Of a once-per job. */
  readonly run?: string;
}

const DONE = ['enter', 'leave'];

const CASES: readonly Case[] = [
  { name: 'calm', steps: DONE, request: 'done' },
  { name: 'calm-day', oncePer: DAY, steps: DONE, request: 'done', run: 'completed' },
  { name: 'before', diesIn: 'lock', steps: [], request: 'failed' },
  { name: 'within', diesIn: 'handler', steps: ['enter'], request: 'failed' },
  { name: 'before-day', diesIn: 'lock', oncePer: DAY, steps: DONE, request: 'done', run: 'completed' },
  {
    ...{ name: 'within-day', diesIn: 'handler', oncePer: DAY },
    ...{ steps: ['enter', ...DONE], request: 'done', run: 'completed' },
  },
  {
    ...{ name: 'within-held-day', diesIn: 'handler', oncePer: { ...DAY, onCrash: 'hold' } },
    ...{ steps: ['enter'], request: 'failed', run: 'interrupted' },
  },
  { name: 'before-tick', diesIn: 'lock', oncePer: TICK, steps: DONE, request: 'done', run: 'completed' },
  {
    ...{ name: 'within-tick', diesIn: 'handler', oncePer: TICK },
    ...{ steps: ['enter'], request: 'failed', run: 'failed' },
  },
  { name: 'last', steps: DONE, request: 'done' },
];

testOnEvery(
  'eight instances run a requested job once, and repeat it after a crash only as the job declares',
  async (database) => {
    const { options } = database;
    const dataSource = await ledgerDataSource(database);
    const folder = mkdtempSync(join(tmpdir(), 'cronlatch-requests-'));
    const orders: RequestedOrders = { options, folder, jobs: CASES };
    const instances = Array.from(
      { length: INSTANCES },
      () => new Child<RequestedMessage>('requested-app.js', { argument: orders }),
    );
    try {
      await using guard = closing(await createJobGuard(dataSource, { pollInterval: false, logger: false }));
      await Promise.all(instances.map((instance) => instance.received('ready')));
      const alive = new Set(instances);
      for (const { name, diesIn, steps, request, run } of CASES) {
        const died = diesIn && Promise.race([...alive].map((each) => each.ended.then(() => each)));
        await operations(guard).run({ job: name }, BY);
        const dead = await died;
        if (dead !== undefined) alive.delete(dead);
        const newest = async () => (await operations(guard).acts({ job: name, limit: 1 }))[0];
        const ended = async (): Promise<boolean> => {
          // An instance that looks while its run has not ended looks again after a lease.
          if (dead !== undefined) await dataSource.query(ITS_LEASE_HAS_EXPIRED);
          return (await newest())?.endedAt !== undefined;
        };
        await eventually(ended, `the request for '${name}' ends`);
        assert.equal((await newest())?.state, request, name);
        const isAsDeclared = async (): Promise<boolean> => (await guard.ledger.last(name))?.state === run;
        if (run !== undefined) await eventually(isAsDeclared, `the run of '${name}' is ${run}`);
        assert.deepEqual(stepsOf(join(folder, name)), steps, name);
      }
      assert.equal(alive.size, INSTANCES - CASES.filter(({ diesIn }) => diesIn).length);
      // The last request was served at a later check, which has started none of the others again.
      for (const { name, steps } of CASES) assert.deepEqual(stepsOf(join(folder, name)), steps, name);
    } finally {
      await Promise.all(instances.map((instance) => instance.end()));
      await dataSource.destroy();
      rmSync(folder, { recursive: true });
    }
  },
  ['mysql', 'postgres', 'sqlite'],
);

const KINDS: readonly Omit<Case, 'name'>[] = [
  { steps: ['enter'], request: 'failed' },
  { oncePer: DAY, steps: ['enter', ...DONE], request: 'done', run: 'completed' },
  { oncePer: { ...DAY, onCrash: 'hold' }, steps: ['enter'], request: 'failed', run: 'interrupted' },
  { oncePer: { ...DAY, retry: { maxAttempts: 1 } }, steps: ['enter'], request: 'failed', run: 'failed' },
  { oncePer: TICK, steps: ['enter'], request: 'failed', run: 'failed' },
];

const FIFTY: readonly Case[] = Array.from({ length: 10 }, (_, round) =>
  KINDS.map((kind, index): Case => ({ ...kind, name: `job-${round}-${index}`, diesIn: 'test' })),
).flat();

testOnEvery('fifty requests whose taker is killed end once, each as its run has ended', async (database) => {
  const { options } = database;
  const dataSource = await ledgerDataSource(database);
  const folder = mkdtempSync(join(tmpdir(), 'cronlatch-requests-'));
  const orders: RequestedOrders = { options, folder, jobs: FIFTY };
  const start = () => new Child<RequestedMessage>('requested-app.js', { argument: orders });
  const instances = [start()];
  try {
    await using guard = closing(await createJobGuard(dataSource, { pollInterval: false, logger: false }));
    await instances[0]?.received('ready');
    for (const { name } of FIFTY) await operations(guard).run({ job: name }, BY);
    const have = (steps: string) => FIFTY.every(({ name }) => stepsOf(join(folder, name)).join() === steps);
    await eventually(() => have('enter'), 'one process is in all handlers');
    await instances[0]?.end();
    await dataSource.query(ITS_LEASE_HAS_EXPIRED);
    instances.push(start());
    const acts = async () => await operations(guard).acts({ verb: 'run', limit: 1000 });
    const haveEnded = async () => (await acts()).every(({ endedAt }) => endedAt !== undefined);
    await eventually(haveEnded, 'all requests end');

    const runs = await Promise.all(FIFTY.map(({ name }) => guard.ledger.last(name)));
    const ended = new Map((await acts()).map(({ job, state }) => [job, state]));
    assert.equal((await acts()).length, FIFTY.length);
    assert.deepEqual(
      FIFTY.map(({ name }, i) => [name, ended.get(name), runs[i]?.state, stepsOf(join(folder, name))]),
      FIFTY.map(({ name, request, run, steps }) => [name, request, run, steps]),
    );
  } finally {
    await Promise.all(instances.map((instance) => instance.end()));
    await dataSource.destroy();
    rmSync(folder, { recursive: true });
  }
});

/** Two handlers at once would enter before one leaves. */
function stepsOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split(' ')[0] ?? '');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
