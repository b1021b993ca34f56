import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobGuard } from 'cronlatch';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { testCodeOn } from '../support/checks/page-tests';
import { accessToken, type Token, type TokenStore } from './lock-manager/access-token';
import { transfer } from './lock-manager/transfers';

testCodeOn('docs/lock-manager.md', 'test/docs/lock-manager');

const newGuard = (lockProvider = new InMemoryLockProvider()): JobGuard =>
  new JobGuard({ lockProvider, logger: false });

void test('two instances book their transfers of one account one after the other', async () => {
  const lockProvider = new InMemoryLockProvider();
  const guards = [newGuard(lockProvider), newGuard(lockProvider)];
  let booking = 0;
  const book = async (): Promise<void> => {
    booking += 1;
    assert.equal(booking, 1);
    await new Promise((resolve) => setImmediate(resolve));
    booking -= 1;
  };
  const results = await Promise.all(guards.map((guard) => transfer(guard, 17, book)));
  assert.deepEqual(results, ['booked', 'booked']);
  assert.equal(await guards[0]?.lockManager().isLocked('ACCOUNT:17'), false);
});

void test('the token on the page is issued once', async () => {
  const guard = newGuard();
  const stored: Token[] = [];
  const store: TokenStore = {
    read: () => Promise.resolve(stored.at(-1)),
    write: (token) => Promise.resolve(void stored.push(token)),
  };
  const issue = (): Promise<Token> => Promise.resolve({ text: 'secret', expiresAt: Date.now() + 3_600_000 });
  const tokens = await Promise.all([1, 2, 3].map(() => accessToken(guard, store, issue)));
  assert.deepEqual(new Set(tokens.map(({ text }) => text)), new Set(['secret']));
  assert.equal(stored.length, 1);
});
