import assert from 'node:assert/strict';
import { DATABASE_NAMES, testWith, type TestDatabase } from '../../support/databases/fresh';
import { migratedDataSource } from '../../support/databases/lock-table';
import { sampleSize } from '../../support/checks/sample-size';
import { Child } from '../../processes/child';
import { machineMs } from '../../processes/machine-time';
import { SURROUNDINGS } from '../../processes/surroundings';
import { judge, type Verdict } from './rolling/judge';
import { LOCK_AT_MOST_FOR_MS, TICK_MS, type DeployMessage, type DeployOrders } from './rolling/settings';

type Worker = Child<DeployMessage>;

const WORKERS = SURROUNDINGS.length;
const RESTARTS = sampleSize({ fast: 8, full: 100 });
const ON = DATABASE_NAMES.slice(0, sampleSize({ fast: 1, full: DATABASE_NAMES.length }));
/** How late the next run may start if eight processes share a busy machine. */
const SLOW_MACHINE_MS = 5000;
/** Closing takes 20 s at most. */
const LONGEST_END_MS = 25_000;

/** Replaces the workers one after the other, every second one during a run. */
async function deploy({ options }: TestDatabase): Promise<Verdict> {
  const all: Worker[] = [];
  const start = async (index: number): Promise<Worker> => {
    const { timeZone = '', sessionZone } = SURROUNDINGS[index] ?? {};
    const worker: Worker = new Child('deployed-worker.js', {
      argument: { options, sessionZone } satisfies DeployOrders,
      environment: { TZ: timeZone },
    });
    all.push(worker);
    assert.equal((await worker.received('ready')).timeZone, timeZone);
    return worker;
  };
  try {
    const working = await Promise.all(SURROUNDINGS.map((_, index) => start(index)));
    const fromMs = machineMs();
    for (let restarts = 0; restarts < RESTARTS; restarts += 1) {
      const index = restarts % WORKERS;
      const leaving = working[index]!;
      const sinceMs = machineMs();
      if (restarts % 2 === 1) await leaving.received('enter', { matching: ({ atMs }) => atMs >= sinceMs });
      await endGracefully(leaving);
      working[index] = await start(index);
    }
    const untilMs = machineMs();
    await Promise.all(working.map(endGracefully));
    return judge(
      all.map(({ messages }) => messages),
      { fromMs, untilMs },
    );
  } finally {
    await Promise.all(all.map((worker) => worker.end()));
  }
}

async function endGracefully(worker: Worker): Promise<void> {
  worker.kill('SIGTERM');
  assert.deepEqual(await worker.endedWithin(LONGEST_END_MS), [null, 'SIGTERM']);
}

for (const kind of ON) {
  testWith(
    kind,
    `${WORKERS} processes in different time zones are replaced one after the other, ${RESTARTS} times: no runs overlap or begin within lockAtLeastFor, none loses its lock, and ticks are not missed for long (F-14, F-27)`,
    async (database, t) => {
      await (await migratedDataSource(database)).destroy();
      const { runs, skipped, complaints, longestGapMs } = await deploy(database);
      t.diagnostic(
        `${RESTARTS} restarts, ${runs} runs, ${skipped} calls failed, longest gap ${longestGapMs.toFixed()} ms`,
      );
      assert.deepEqual(complaints, []);
      assert.ok(runs > RESTARTS, `only ${runs} runs`);
      assert.ok(longestGapMs <= LOCK_AT_MOST_FOR_MS + TICK_MS + SLOW_MACHINE_MS, `${longestGapMs} ms`);
    },
  );
}
