import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { SettableClock } from 'cronlatch/testing';
import { InMemoryStorageAccessor } from '#cronlatch/storage/memory/in-memory-lock-provider';

const PICTURE = readFileSync('docs/images/life-of-a-lock-row.svg', 'utf8');

/** Each moment of the picture: the time and the columns of the row. */
const moments = [...PICTURE.matchAll(/<g class="moment">(.*?)<\/g>/gs)].map(([, moment = '']) => {
  const [time, , lockUntil, lockedAt, lockedBy, fencingToken] = [
    ...moment.matchAll(/<text [^>]*>(.*?)<\/text>/g),
  ].map(([, text = '']) => text);
  return { time, lockUntil, lockedAt, lockedBy, fencingToken };
});

void test('the picture shows the states of a row', async () => {
  const clock = new SettableClock('2026-11-21T03:00:00Z');
  const store = new InMemoryStorageAccessor(clock);
  const terms = { name: 'job', lockAtMostForMs: 30_000, lockAtLeastForMs: 20_000 };
  const first = { ...terms, owner: 'web-1/47/5f…' };
  const nextOwner = `${first.owner}/1`;
  const second = { ...terms, owner: 'web-2/803/c1…' };
  const lived: typeof moments = [];
  const held: boolean[] = [];
  let lockedAt = '';
  const look = async (): Promise<void> => {
    const record = await store.find('job');
    assert.ok(record);
    const { lockUntil, lockedBy, fencingToken } = record;
    held.push(record.held);
    lived.push({
      time: timeOf(clock.now()),
      lockUntil: timeOf(lockUntil),
      lockedAt,
      lockedBy,
      fencingToken: String(fencingToken),
    });
  };
  const granted = (grant: unknown): void => {
    assert.equal(typeof grant, 'object');
    lockedAt = timeOf(clock.now());
  };

  granted(await store.insertRecord(first));
  await look();
  clock.advance('10s');
  assert.ok(await store.extend({ ...first, nextOwner }));
  await look();
  clock.advance('4s');
  assert.ok(await store.unlock({ ...first, owner: nextOwner }));
  await look();
  clock.advance('6s');
  await look();
  clock.advance('40s');
  granted(await store.updateRecord(second));
  await look();
  clock.advance('6s');
  await look();
  clock.advance('24s');
  await look();

  assert.deepEqual(moments, lived);
  assert.deepEqual(held, [true, true, true, false, true, true, false]);
});

function timeOf(instant: Date): string {
  return instant.toISOString().slice(11, 19);
}
