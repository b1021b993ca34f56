/** A firewall that has forgotten idle connections drops their packets without a word. */
import assert from 'node:assert/strict';
import { systemClock, type Clock } from 'cronlatch/provider';
import { createJobGuard } from 'cronlatch/typeorm';
import { testOnServers, type ServerBench } from '../../support/benches/server';
import { targetOf, tcpProxy, throughProxy, type TcpProxy } from '../../support/faults/tcp-proxy';

const LEASES = ['10s', '30s', '10m'] as const;
const FORGOTTEN = ['all', 'first', 'last'] as const;

/** The time of the machine, in which a night can pass at once. */
class ShiftedClock implements Clock {
  #aheadMs = 0;
  monotonicMs = (): number => systemClock.monotonicMs() + this.#aheadMs;
  wallMs = (): number => systemClock.wallMs();
  schedule = systemClock.schedule.bind(systemClock);
  pass(milliseconds: number): void {
    this.#aheadMs += milliseconds;
  }
}

/** A guard through a proxy, whose two connections were both used. */
async function connected(bench: ServerBench, clock: Clock) {
  const { url } = bench.database;
  const proxy: TcpProxy = await tcpProxy(targetOf(url));
  const dataSource = bench.dataSource({ url: throughProxy(url, proxy) });
  const guard = bench.closeAtEnd(
    await createJobGuard(dataSource, { clock, logger: false, pollInterval: false }),
  );
  bench.closeAtEnd(proxy); // Before its guard, which would wait for the connections that are forgotten.
  const lock = await guard.lockManager().tryLock({ name: `first of ${proxy.port}`, lockAtMostFor: '10m' });
  await Promise.all([
    lock?.extend('10m') ?? assert.fail('the lock is held'),
    guard.run({ name: `second of ${proxy.port}`, lockAtMostFor: '10m' }, () => {}),
  ]);
  await lock?.unlock();
  return { proxy, guard };
}

testOnServers(
  'a tick runs, although a firewall has forgotten idle connections of the guard (F-40)',
  async (bench) => {
    const night = async (lockAtMostFor: string, which: (typeof FORGOTTEN)[number]): Promise<void> => {
      const clock = new ShiftedClock();
      const { proxy, guard } = await connected(bench, clock);
      const name = `${lockAtMostFor} ${which}`;
      for (const tick of ['first night', 'second night']) {
        clock.pass(6000);
        proxy.forget(which);
        const result = await guard.run({ name, lockAtMostFor }, () => tick);
        assert.deepEqual(result, { executed: true, value: tick }, name);
      }
    };
    await Promise.all(LEASES.flatMap((lease) => FORGOTTEN.map((which) => night(lease, which))));
  },
);
