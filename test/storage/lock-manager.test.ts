import assert from 'node:assert/strict';
import { testOnDatabases } from '../support/benches/database';

testOnDatabases(
  'two instances take turns with locks that wait',
  async (bench) => {
    const options = { defaultLockAtMostFor: '30s' } as const;
    const [first, second] = [await bench.openGuard(options), await bench.openGuard(options)].map((guard) =>
      guard.lockManager(),
    );
    assert.ok(first !== undefined && second !== undefined);

    let sold = 0;
    const sell = async (manager: typeof first): Promise<void> =>
      await manager.withLock('stock', async () => {
        const before = sold;
        await bench.application.query('SELECT 1');
        sold = before + 1;
      });
    await Promise.all(Array.from({ length: 20 }, (_, i) => sell(i % 2 === 0 ? first : second)));
    assert.equal(sold, 20);

    const lock = await first.lock('order');
    assert.equal(await second.isLocked('order'), true);
    assert.equal(await second.tryLock('order', { wait: '100ms' }), undefined);
    const waiting = second.tryLock('order', { wait: '30s' });
    assert.equal(await lock.unlock(), true);
    const granted = await waiting;
    assert.ok(granted?.fencingToken !== undefined && lock.fencingToken !== undefined);
    assert.ok(granted.fencingToken > lock.fencingToken);
  },
  ['postgres', 'mysql', 'sqlite'],
);
