import assert from 'node:assert/strict';
import { suite } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Lock, LockConfiguration } from 'cronlatch';
import type { TypeOrmLockProvider } from 'cronlatch/typeorm';
import {
  DATABASE_NAMES,
  reportLack,
  SERVER_NAMES,
  testWith,
  type DatabaseName,
} from '../../support/databases/fresh';
import { registered, writeFenced } from '../../support/databases/fenced-register';
import { lockRows } from '../../support/databases/lock-table';
import { sampleSize } from '../../support/checks/sample-size';
import type { StalledMessage, StalledCommand } from '../../processes/fixtures/stalled-holder';
import { withHolders, type Holder, type Scene } from './stalled/with-holders';

const ROUNDS = sampleSize({ fast: 1, full: 64 });
const LANES = sampleSize({ fast: 1, full: 8 });
const LOCK_AT_MOST_FOR_MS = 2000;
const ABORTED = ['abort', 'lock:lost', 'run:completed', 'lock:released'] as const;

/** As soon as it is available. */
async function granted(provider: TypeOrmLockProvider, configuration: LockConfiguration): Promise<Lock> {
  for (;;) {
    const lock = await provider.lock(configuration);
    if (lock !== undefined) return lock;
    await setTimeout(50);
  }
}

function ofRound(round: number) {
  return { matching: (message: { readonly round: number }) => message.round === round };
}

/**
 * Lets another instance take over while the holder is stalled, and checks what the holder does when it
 * continues.
 */
async function assertTakenOver(
  { dataSource, provider }: Scene,
  holder: Holder,
  { name, round, stall, goOn }: { name: string; round: number; stall: () => void; goOn: () => void },
): Promise<StalledMessage & { event: 'over' }> {
  holder.send({});
  const { token } = await holder.received('enter', ofRound(round));
  stall();
  const lock = await granted(provider, { name, lockAtMostFor: '10m' });
  const next = lock.fencingToken ?? 0;
  assert.ok(next > token, 'the token rises');
  assert.equal(await writeFenced(dataSource, name, next), next);
  goOn();
  const successor = await holder.received('over', ofRound(round));
  // It may have been extended before the stall.
  const sinceLast = successor.events.filter((event) => event !== 'lock:extended');
  assert.deepEqual(sinceLast, ABORTED);
  assert.deepEqual(successor.events.slice(-ABORTED.length), ABORTED, 'no other event comes before the abort');
  assert.deepEqual([successor.stillOurs, successor.accepted], [false, false]);
  assert.equal(await registered(dataSource, name), next, 'the write of the stale holder is refused');
  const row = (await lockRows(dataSource)).find((each) => each.name === name);
  assert.deepEqual([row?.held, row?.token], [true, next], 'the stale holder changes nothing');
  assert.equal(await lock.unlock(), true);
  return successor;
}

function testStopped(kind: DatabaseName, keepAlive: boolean): void {
  const how = keepAlive ? 'kept alive' : 'not kept alive';
  testWith(
    kind,
    `a process stopped beyond its lease (${how}) is notified before anything else, changes nothing and is refused by the token (F-04)`,
    (database) =>
      withHolders(database, async (scene) => {
        const lane = async (_: unknown, index: number): Promise<void> => {
          const name = `job-${index}`;
          const holder = await scene.start({ name, lockAtMostForMs: LOCK_AT_MOST_FOR_MS, keepAlive });
          for (let round = 1; round <= ROUNDS; round += 1) {
            await assertTakenOver(scene, holder, {
              ...{ name, round },
              stall: () => holder.kill('SIGSTOP'),
              goOn: () => holder.kill('SIGCONT'),
            });
          }
        };
        await Promise.all(Array.from({ length: LANES }, lane));
      }),
  );
}

void suite('a stalled holder', { concurrency: 4 }, () => {
  for (const kind of DATABASE_NAMES) testStopped(kind, false);
  for (const kind of SERVER_NAMES) testStopped(kind, true);
  reportLack('sqlite', 'a process that is stopped during a renewal keeps the file locked for that long');

  testWith(
    'mysql',
    'a process stopped for less than its lease keeps it, and renews it again (F-03)',
    (database) =>
      withHolders(database, async ({ start }) => {
        const lockAtMostForMs = 4000;
        const holder = await start({ name: 'job', lockAtMostForMs, keepAlive: true });
        holder.send({});
        await holder.received('enter');
        holder.kill('SIGSTOP');
        await setTimeout(0.3 * lockAtMostForMs);
        holder.kill('SIGCONT');
        await holder.received('extended');
        holder.send({} satisfies StalledCommand);
        const { events, stillOurs, accepted } = await holder.received('over');
        assert.ok(!events.includes('abort'));
        assert.deepEqual([stillOurs, accepted], [true, true]);
      }),
  );

  for (const stall of ['a busy loop', 'a synchronous call'] as const) {
    testWith(
      'sqlite',
      `a job that ${stall} blocks beyond its lease has lost it: its extension is refused (F-05)`,
      (database) =>
        withHolders(database, async (scene) => {
          const holder = await scene.start({ name: 'job', lockAtMostForMs: 1500, keepAlive: true });
          const over = await assertTakenOver(scene, holder, {
            ...{ name: 'job', round: 1 },
            stall: () => holder.send({ stall } satisfies StalledCommand),
            goOn: () => {},
          });
          assert.equal(over.extended, false);
        }),
    );
  }
});
