import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { SettableClock } from 'cronlatch/testing';

const NAMES = 25_000;
const nameOf = (index: number): string => `order ${index}`;

void test('records of free locks are removed, those of held locks stay, and tokens rise all the same (P3)', async () => {
  const clock = new SettableClock();
  const provider = new InMemoryLockProvider({ clock });
  const held = await provider.lock({ name: 'held', lockAtMostFor: '1h' });
  const blocked = await provider.lock({ name: 'blocked', lockAtMostFor: '1h', lockAtLeastFor: '1h' });
  await blocked?.unlock();
  const tokens: number[] = [];
  for (let index = 0; index < NAMES; index += 1) {
    const lock = await provider.lock({ name: nameOf(index), lockAtMostFor: '1m' });
    tokens.push(lock?.fencingToken ?? NaN);
    await lock?.unlock();
    if (index % 100 === 0) clock.advance(1);
  }
  for (const name of ['held', 'blocked'])
    assert.equal(await provider.lock({ name, lockAtMostFor: '1m' }), undefined, name);
  assert.equal(await held?.unlock(), true);
  clock.advance(1);
  for (const index of [0, 1, NAMES / 2, NAMES - 1]) {
    const again = await provider.lock({ name: nameOf(index), lockAtMostFor: '1m' });
    assert.ok((again?.fencingToken ?? 0) > (tokens[index] ?? NaN), nameOf(index));
    await again?.unlock();
  }
  const kept = tokens.filter((_, index) => provider.deleteRecord(nameOf(index)));
  assert.ok(kept.length <= 10_000, `${kept.length} of ${NAMES} are kept`);
});
