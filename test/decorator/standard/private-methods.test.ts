import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SchedulerLock } from 'cronlatch';
import { useTestGuard } from 'cronlatch/testing';

class Jobs {
  constructor(readonly label: string) {}

  @SchedulerLock('private', '1m')
  async #hidden(greeting: string): Promise<string | undefined> {
    return await Promise.resolve(`${greeting}, ${this.label}`);
  }

  @SchedulerLock('private-static', '1m')
  static async #job(): Promise<string | undefined> {
    return await Promise.resolve('static');
  }

  async call(greeting: string): Promise<string | undefined> {
    return await this.#hidden(greeting);
  }

  static async call(): Promise<string | undefined> {
    return await Jobs.#job();
  }
}

void test('a private method is guarded when its class calls it', async () => {
  await using bench = useTestGuard();
  const acquired = bench.next('lock:acquired');
  assert.equal(await new Jobs('Ada').call('Hello'), 'Hello, Ada');
  assert.equal((await acquired).name, 'private');
  assert.equal(await Jobs.call(), 'static');
});

void test('a private method whose lock is held is skipped', async () => {
  await using bench = useTestGuard();
  for (const name of ['private', 'private-static'])
    assert.ok(await bench.lockProvider.lock({ name, lockAtMostFor: '1h' }));
  assert.equal(await new Jobs('Ada').call('Hello'), undefined);
  assert.equal(await Jobs.call(), undefined);
});
