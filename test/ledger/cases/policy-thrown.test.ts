import assert from 'node:assert/strict';
import { closeDay, failing } from '../../support/jobs/close-day';
import { testLedger } from '../../support/stores/ledger-tests';

const KEY = { job: 'close-day', periodKey: '2026-11-20' };

function cyclic(): Error {
  const error = new Error('in a circle');
  error.cause = new Error('round about', { cause: error });
  return error;
}

const refusesToBeText = {
  toString() {
    throw new Error('no text');
  },
};

/** As a loop throws that retries without limit. */
function causedByThousands(): Error {
  let error = new Error('the first');
  for (let tries = 0; tries < 20_000; tries += 1) error = new Error('retry failed', { cause: error });
  return error;
}

function refusing(property: 'stack' | 'errors'): Error {
  return Object.defineProperty(new AggregateError([]), property, {
    get() {
      throw new Error('do not look');
    },
  });
}

/** Every access to it throws. */
function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function trapping(): object {
  const trap = (): never => {
    throw new Error('keep out');
  };
  return new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap });
}

/** Name | thrown value | texts that the stored error must contain */
const THROWN: readonly [string, unknown, readonly string[]][] = [
  ['null', null, ['thrown: null']],
  ['a string', 'no bank today', ['thrown: no bank today']],
  ['a symbol', Symbol('no bank'), ['thrown: Symbol(no bank)']],
  ['an object without a prototype', Object.create(null), ['thrown: [object Object]']],
  ['an object that throws when it is converted to text', refusesToBeText, ['thrown: [object Object]']],
  ['text that no store can keep', 'a\0b\ud83d', ['thrown: a\\0b\ufffd']],
  [
    'an AggregateError',
    new AggregateError([new Error('first bank'), 'second bank'], 'no bank today'),
    ['AggregateError: no bank today', 'one of: Error: first bank', 'one of: thrown: second bank'],
  ],
  [
    'an error that is its own cause',
    cyclic(),
    ['Error: in a circle', 'caused by: Error: round about', 'caused by: Error (again)'],
  ],
  ['an error with a cause for each of 20,000 retries', causedByThousands(), ['Error: retry failed', '(cut)']],
  ['an error that hides its stack', refusing('stack'), ['thrown: [object Error]']],
  ['a revoked proxy', revoked(), ['thrown: ']],
  ['a proxy whose traps throw', trapping(), ['thrown: ']],
  ['an AggregateError that hides its errors', refusing('errors'), ['thrown: [object Error]']],
];

for (const [what, thrown, texts] of THROWN) {
  testLedger(
    `${what} is passed to the caller unchanged, recorded, and retried (L-30) (F-98)`,
    async (place) => {
      const instance = place.instance();
      const { guard } = instance;
      const { task } = failing(1, thrown);
      // Written by hand: resolving a promise with a revoked proxy would read its `then`.
      let isThrown = false;
      await guard.run(closeDay(), task).catch((reason: unknown) => void (isThrown = reason === thrown));
      assert.ok(isThrown);
      const run = await guard.ledger.get(KEY);
      assert.deepEqual([run?.state, run?.attempt], ['failed', 1]);
      for (const text of texts) assert.ok(run?.error?.includes(text), run?.error);
      const [event] = await guard.ledger.history(KEY);
      assert.deepEqual([event?.kind, event?.detail], ['failed', run?.error]);
      assert.ok(instance.of('run:failed')[0]?.error === thrown);
      await place.elapse('1m1s');
      assert.deepEqual(await guard.run(closeDay(), task), { executed: true, value: 'done' });
      assert.equal((await guard.ledger.get(KEY))?.error, undefined);
    },
  );
}
