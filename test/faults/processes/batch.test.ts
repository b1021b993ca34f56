import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { testOnEvery, type TestDatabase } from '../../support/databases/fresh';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { sampleSize } from '../../support/checks/sample-size';
import { Child } from '../../processes/child';
import type { BatchMessage, BatchOrders } from '../../processes/fixtures/batch-worker';
import { closing } from '../../support/benches/closing';

type Worker = Child<BatchMessage>;

const WORKERS = 8;
const KEYS = sampleSize({ fast: 500, full: 10_000 });
const KILLS = sampleSize({ fast: 6, full: 60 });
const LOCK_AT_MOST_FOR_MS = 2000;
const LONGEST_MS = sampleSize({ fast: 120_000, full: 1_200_000 });

/** For each key, written by the handlers. */
const EFFECTS = 'CREATE TABLE effects (period_key VARCHAR(64) NOT NULL, attempt INTEGER NOT NULL)';

interface KeyRow {
  readonly period_key: string;
  readonly state: string;
  readonly attempt: number;
  /** The last attempt that took effect, and the number of attempts that did. */
  readonly last: number;
  readonly effects: number;
}

async function keyRows(dataSource: DataSource): Promise<KeyRow[]> {
  const rows = await dataSource.query<Record<keyof KeyRow, unknown>[]>(
    `SELECT r.period_key, r.state, r.attempt, MAX(e.attempt) AS last, COUNT(DISTINCT e.attempt) AS effects
     FROM cronlatch_run r LEFT JOIN effects e ON e.period_key = r.period_key
     GROUP BY r.period_key, r.state, r.attempt`,
  );
  return rows.map((row) => ({
    period_key: String(row.period_key),
    state: String(row.state),
    attempt: Number(row.attempt),
    last: Number(row.last),
    effects: Number(row.effects),
  }));
}

/**
 * Every worker starts at the same keys, or halfway through. A new worker replaces each one that is killed.
 */
async function workOff(database: TestDatabase): Promise<readonly Worker[]> {
  const all: Worker[] = [];
  const start = (): Worker => {
    const from = (all.length % 2) * (KEYS / 2);
    const { options } = database;
    const argument: BatchOrders = { options, keys: KEYS, from, lockAtMostFor: LOCK_AT_MOST_FOR_MS };
    const worker: Worker = new Child('batch-worker.js', { argument });
    all.push(worker);
    return worker;
  };
  const working = Array.from({ length: WORKERS }, start);
  try {
    for (let kills = 0; kills < KILLS; kills += 1) {
      const index = kills % WORKERS;
      const victim = working[index]!;
      // During its work, at a random moment.
      await victim.received('completed');
      await setTimeout(300 * Math.random());
      victim.kill('SIGKILL');
      await victim.ended;
      working[index] = start();
    }
    await Promise.all(working.map((worker) => worker.received('all-done', { withinMs: LONGEST_MS })));
    return all;
  } finally {
    await Promise.all(all.map((worker) => worker.end()));
  }
}

testOnEvery(
  `${WORKERS} processes work on ${KEYS} keys while some are killed: each key is completed once (L-02) (F-01)`,
  async (database, t) => {
    await using dataSource = closing(await ledgerDataSource(database));
    await dataSource.query(EFFECTS);
    const workers = await workOff(database);
    const rows = await keyRows(dataSource);
    assert.equal(rows.length, KEYS);
    // No attempt ran after the completed one, and no attempt ran twice.
    const wrong = rows.filter(({ state, attempt, last }) => state !== 'completed' || attempt !== last);
    assert.deepEqual(wrong, []);
    const [{ written } = { written: 0 }] = await dataSource.query<{ written: unknown }[]>(
      'SELECT COUNT(*) AS written FROM effects',
    );
    assert.equal(
      Number(written),
      rows.reduce((sum, { effects }) => sum + effects, 0),
    );
    const completions = workers
      .flatMap(({ messages }) => messages.filter((message) => message.event === 'completed'))
      .map(({ key }) => key);
    assert.equal(
      new Set(completions).size,
      completions.length,
      'two workers reported the completion of a key',
    );
    t.diagnostic(`${rows.filter(({ attempt }) => attempt > 1).length} keys were taken over`);
  },
);
