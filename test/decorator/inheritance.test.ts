import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { SchedulerLock } from 'cronlatch';
import type { EventName } from 'cronlatch/provider';
import { useTestGuard, type TestGuard } from 'cronlatch/testing';

const LOCK = { name: 'nightly', lockAtMostFor: '1m' };

class Base {
  @SchedulerLock(LOCK)
  async nightly(): Promise<string | undefined> {
    return await Promise.resolve('base');
  }

  @SchedulerLock('outer', '1m')
  async outer(): Promise<string | undefined> {
    return await this.nightly();
  }

  async unguarded(): Promise<string | undefined> {
    return await this.nightly();
  }
}

class SameLock extends Base {
  @SchedulerLock(LOCK)
  override async nightly(): Promise<string | undefined> {
    return `sub of ${await super.nightly()}`;
  }
}

class NoLock extends Base {
  override async nightly(): Promise<string | undefined> {
    return await Promise.resolve('no lock');
  }
}

let bench: TestGuard;
beforeEach(() => void (bench = useTestGuard()));
afterEach(() => bench.dispose());

function counted(name: EventName): { count: number } {
  const counter = { count: 0 };
  bench.guard.on(name, () => void (counter.count += 1));
  return counter;
}

void test('an override and the method that it calls with super both run, in one lease (F-84)', async () => {
  const acquired = counted('lock:acquired');
  const started = counted('run:started');
  assert.equal(await new SameLock().nightly(), 'sub of base');
  assert.equal(acquired.count, 1);
  assert.equal(started.count, 2);
});

void test('if the override is skipped, so is the method that it would have called', async () => {
  await bench.lockProvider.lock(LOCK);
  assert.equal(await new SameLock().nightly(), undefined);
});

void test('an override without its own lock has no lock (F-84)', async () => {
  await bench.lockProvider.lock(LOCK);
  assert.equal(await new NoLock().nightly(), 'no lock');
});

void test('a method that calls itself through this is guarded, from guarded methods and from others (F-86)', async () => {
  const held = await bench.lockProvider.lock(LOCK);
  assert.equal(await new Base().unguarded(), undefined);
  assert.equal(await new Base().outer(), undefined);
  await held?.unlock();
  assert.equal(await new Base().unguarded(), 'base');
  assert.equal(await new Base().outer(), 'base');
});

void test('two instances of a class exclude each other', async () => {
  const both = await Promise.all([new Base().nightly(), new Base().nightly()]);
  assert.deepEqual(both, ['base', undefined]);
});

void test('the lock is released when super throws', async () => {
  class Failing extends Base {
    @SchedulerLock(LOCK)
    override async nightly(): Promise<string | undefined> {
      await super.nightly();
      throw new Error('after super');
    }
  }
  await assert.rejects(new Failing().nightly(), /after super/);
  assert.ok(await bench.lockProvider.lock(LOCK));
});
