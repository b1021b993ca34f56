import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callsOf } from '#cronlatch/guard/calls/calls';
import { sendingLost } from '../support/faults/accessor';
import { faultyInstance } from '../support/faults/run-store';
import { ledgerPlace, memoryStores } from '../support/stores/ledger-place';

const slot = { job: 'settle', at: new Date('2026-11-20T03:00:00Z') };

void test('a slot whose task throws an unreadable value has failed', async () => {
  const { place, close } = ledgerPlace(memoryStores('2026-11-20T03:00:00Z'));
  try {
    const instance = place.instance();
    const { guard } = instance;
    assert.ok(await callsOf(guard).slots.elect(slot, 60_000));
    callsOf(guard).slots.begun(slot);
    const refusing = Object.defineProperty(new Error(), 'stack', {
      get() {
        throw new Error('do not look');
      },
    });
    const failed = new Promise((resolve) => guard.on('run:failed', resolve));
    callsOf(guard).slots.failed(slot, refusing);
    await failed;
    const [run] = await guard.ledger.list({ job: 'settle' });
    assert.deepEqual([run?.state, run?.error], ['failed', 'thrown: [object Error]']);
    assert.deepEqual(instance.of('guard:warning'), []);
  } finally {
    await close();
  }
});

void test('a closed guard does not keep asking an unreachable store for the outcome of a slot', async () => {
  const { place, close } = ledgerPlace(memoryStores('2026-11-20T03:00:00Z'));
  try {
    const { guard, faulty } = faultyInstance(place);
    assert.ok(await callsOf(guard).slots.elect(slot, 60_000));
    callsOf(guard).slots.begun(slot);
    for (const statement of ['complete', 'change'] as const)
      faulty.fail(statement, ...Array<typeof sendingLost>(1000).fill(sendingLost));
    const end = new Promise<string>((resolve) => {
      guard.on('run:completed', () => resolve('recorded'));
      guard.on('guard:warning', ({ message }) => {
        if (message.includes('Could not record')) resolve('failed');
      });
    });
    callsOf(guard).slots.completed(slot, undefined);
    await guard.close({ timeout: 0 });
    assert.equal(await end, 'failed');
    assert.ok(faulty.calls.length < 1000);
  } finally {
    await close();
  }
});
