import assert from 'node:assert/strict';
import { createJobGuard } from 'cronlatch/typeorm';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';
import { testWith } from '../support/databases/fresh';

for (const name of ['postgres', 'mysql', 'sqlite'] as const)
  testWith(name, 'two instances take turns with locks that wait', async ({ options }) => {
    const source = new DataSource({
      ...options,
      migrations: [createCronlatchMigration({ tables: ['lock'] })],
    });
    await source.initialize();
    await source.runMigrations();
    const defaults = { logger: false, defaultLockAtMostFor: '30s' } as const;
    const guards = [await createJobGuard(source, defaults), await createJobGuard(source, defaults)];
    const managers = guards.map((guard) => guard.lockManager());
    const [first, second] = managers;
    assert.ok(first !== undefined && second !== undefined);

    let sold = 0;
    const sell = async (manager = first): Promise<void> =>
      await manager.withLock('stock', async () => {
        const before = sold;
        await source.query('SELECT 1');
        sold = before + 1;
      });
    await Promise.all(Array.from({ length: 20 }, (_, i) => sell(managers[i % 2])));
    assert.equal(sold, 20);

    const lock = await first.lock('order');
    assert.equal(await second.isLocked('order'), true);
    assert.equal(await second.tryLock('order', { wait: '100ms' }), undefined);
    const waiting = second.tryLock('order', { wait: '30s' });
    assert.equal(await lock.unlock(), true);
    const granted = await waiting;
    assert.ok(granted?.fencingToken !== undefined && lock.fencingToken !== undefined);
    assert.ok(granted.fencingToken > lock.fencingToken);
    await Promise.all(guards.map((guard) => guard.close()));
    await source.destroy();
  });
