import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InMemoryLockProvider } from 'cronlatch/memory';
import type { LockProvider } from 'cronlatch/provider';
import { lockIdOf } from '#cronlatch/ledger/run';

function providerIn(id: string | undefined): LockProvider {
  const provider = new InMemoryLockProvider();
  return { id, lock: (...asked) => provider.lock(...asked) };
}

void test('all instances in the same place share the identity of a lock, and no other instances do', () => {
  const here = lockIdOf(providerIn('here'), 'close-day');
  assert.equal(here, 'here/close-day');
  assert.equal(lockIdOf(providerIn('here'), 'close-day'), here);
  assert.notEqual(lockIdOf(providerIn('there'), 'close-day'), here);
  assert.notEqual(lockIdOf(providerIn('here'), 'close-month'), here);
});

void test('a provider without a place is its own place', () => {
  const unnamed = providerIn(undefined);
  const id = lockIdOf(unnamed, 'close-day');
  assert.equal(lockIdOf(unnamed, 'close-day'), id);
  assert.notEqual(lockIdOf(unnamed, 'close-month'), id);
  assert.notEqual(lockIdOf(providerIn(undefined), 'close-day'), id);
});

void test('an identity never has more characters than its column, and stays unique', () => {
  const fits = lockIdOf(providerIn('p'.repeat(63)), 'n'.repeat(64));
  assert.equal(fits, `${'p'.repeat(63)}/${'n'.repeat(64)}`);
  assert.equal(lockIdOf(providerIn('😀'.repeat(63)), 'n'.repeat(64)).includes('#'), false);

  const long = lockIdOf(providerIn('😀'.repeat(64)), 'n'.repeat(64));
  assert.match(long, /^(😀){63}#[0-9a-f]{64}$/u);
  assert.equal(Array.from(long).length, 128);
  assert.equal(lockIdOf(providerIn('😀'.repeat(64)), 'n'.repeat(64)), long);
  assert.notEqual(lockIdOf(providerIn('😀'.repeat(64)), `${'n'.repeat(63)}m`), long);
});
