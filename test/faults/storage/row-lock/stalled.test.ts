import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { JOB, testRowLocks } from '../../../support/benches/row-locks';

testRowLocks(
  'after a stall that is longer than the idle limit of the server, the next lock opens a new connection',
  async (locks) => {
    const provider = locks.provider();
    const first = await provider.lock(JOB);
    assert.equal(await first?.unlock(), true);
    const printed = mock.method(console, 'error', () => {});
    // The server ends the session after 5 s. Meanwhile no timer fires, and nothing is read.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6500);
    const other = await provider.lock({ ...JOB, name: 'other' });
    assert.equal(await other?.unlock(), true);
    printed.mock.restore();
    assert.deepEqual(
      printed.mock.calls.map(({ arguments: lines }) => lines),
      [],
    );
  },
);
