import assert from 'node:assert/strict';
import { once } from 'node:events';
import { suite } from 'node:test';
import type { Lock } from 'cronlatch';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { percentiles } from '../support/checks/percentiles';
import { sampleSize } from '../support/checks/sample-size';
import { testOnEvery } from '../support/databases/fresh';
import { migratedDataSource } from '../support/databases/lock-table';

const LEASES = sampleSize({ fast: 60, full: 1000 });
/** Long enough that all locks are granted before the first one is checked. */
const LOCK_AT_MOST_FOR_MS = sampleSize({ fast: 10_000, full: 30_000 });

interface Notice {
  readonly reason: string;
  /** The end of the lease at its grant, and when its signal aborted. */
  readonly deadlineMs: number;
  readonly atMs: number;
}

async function noticeOf(lock: Lock): Promise<Notice> {
  const { signal } = lock;
  const deadlineMs = performance.now() + lock.remainingMs();
  if (!signal.aborted) await once(signal, 'abort');
  return { reason: String(signal.reason), deadlineMs, atMs: performance.now() };
}

void suite('the notice of a lost lease', { concurrency: sampleSize({ fast: 4, full: 1 }) }, () => {
  testOnEvery(
    `each of ${LEASES} waiting holders is notified: by the store’s answer, or when its lease expires (P2, F-81)`,
    async (database, t) => {
      const dataSource = await migratedDataSource(database);
      const provider = new TypeOrmLockProvider(dataSource);
      // The timers of a lease do not keep a process alive, and without a server nothing else does.
      const awake = setInterval(() => {}, 1000);
      try {
        const noticed: Promise<Notice>[] = [];
        for (let index = 0; index < LEASES; index += 1) {
          const keepAlive = index % 2 === 0;
          const lock = await provider.lock({
            name: `job-${index}`,
            lockAtMostFor: LOCK_AT_MOST_FOR_MS,
            keepAlive,
          });
          assert.ok(lock);
          noticed.push(noticeOf(lock));
        }
        await dataSource.query('DELETE FROM shedlock');
        const deletedAtMs = performance.now();
        const notices = await Promise.all(noticed);
        const renewed = notices.filter((_, index) => index % 2 === 0);
        const notRenewed = notices.filter((_, index) => index % 2 === 1);
        assert.ok(renewed.every(({ reason }) => /no longer belongs|has expired/.test(reason)));
        assert.ok(notRenewed.every(({ reason }) => /has expired/.test(reason)));
        t.diagnostic(
          `after the end of the lease: ${percentiles(notRenewed.map(({ atMs, deadlineMs }) => atMs - deadlineMs))}`,
        );
        const refused = renewed.filter(({ reason }) => /no longer belongs/.test(reason));
        const ofRefused = percentiles(refused.map(({ atMs }) => atMs - deletedAtMs));
        t.diagnostic(
          `${refused.length} of ${renewed.length} by a refused renewal, after the deletion: ${ofRefused}`,
        );
      } finally {
        clearInterval(awake);
        await provider.close();
        await dataSource.destroy();
      }
    },
  );
});
