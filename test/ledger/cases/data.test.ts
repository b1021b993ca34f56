import assert from 'node:assert/strict';
import { currentRun, InvalidLockConfigurationError, type JobConfiguration } from 'cronlatch';
import type { Run, RunKey } from 'cronlatch/provider';
import { refused } from '../../support/checks/refused';
import { dayJob, FIRST_DAY } from '../../support/jobs/day-job';
import type { Instance, LedgerPlace } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';

/** Runs a job that returns the given value. */
async function returned(place: LedgerPlace, value: unknown): Promise<{ instance: Instance; run: Run }> {
  const instance = place.instance();
  assert.deepEqual(await instance.guard.run(dayJob(), () => value), { executed: true, value });
  const run = await instance.guard.ledger.get(FIRST_DAY);
  assert.equal(run?.state, 'completed');
  return { instance, run };
}

testLedger('a result of 64 KiB is stored in full (L-56)', async (place) => {
  const text = 'x'.repeat(64 * 1024 - 2);
  const { run } = await returned(place, text);
  assert.equal(run.result, JSON.stringify(text));
});

testLedger(
  'a longer result is truncated with a mark, measured in bytes, never inside a character (L-56)',
  async (place) => {
    const text = `x${'😀'.repeat(20_000)}`;
    const { run } = await returned(place, text);
    const { result = '' } = run;
    const bytes = Buffer.byteLength(result);
    assert.ok(64 * 1024 - 4 < bytes && bytes <= 64 * 1024, String(bytes));
    assert.match(result, /^"x(?:😀)+… \(cut\)$/u);
  },
);

const cyclic: Record<string, unknown> = {};
cyclic['itself'] = cyclic;
const NO_JSON: [string, unknown][] = [
  ['a BigInt', { balance: 10n }],
  ['a cycle', cyclic],
  [
    'what refuses',
    {
      toJSON: () => {
        throw new Error('secret');
      },
    },
  ],
];

for (const [what, value] of NO_JSON) {
  testLedger(
    `a result that cannot be JSON (${what}) is not stored, and its run is completed (L-56)`,
    async (place) => {
      const { instance, run } = await returned(place, value);
      assert.equal(run.result, undefined);
      const messages = instance.of('guard:warning').map(({ message }) => message);
      assert.deepEqual(messages, [
        "The result of the run of job 'close-day' for 2026-11-20 cannot be serialized as JSON, so it was not stored.",
      ]);
    },
  );
}

for (const value of [undefined, () => 'text', Symbol('text')]) {
  testLedger(`${String(value)} is not a result and causes no warning (L-56)`, async (place) => {
    const { instance, run } = await returned(place, value);
    assert.equal(run.result, undefined);
    assert.deepEqual(instance.of('guard:warning'), []);
  });
}

testLedger(
  'any text is read back as it was written: four-byte characters, NUL, lone surrogates, quotes (L-56)',
  async (place) => {
    const value = { text: '𠮷😀 \u0000 \ud800 \' " \\ ; -- \n é e\u0301', numbers: [1.5, null] };
    const { run } = await returned(place, value);
    assert.deepEqual(JSON.parse(run.result ?? ''), value);
  },
);

testLedger(
  'a skip reason is truncated to 8 KiB, and stored in characters that every store can keep (L-56)',
  async (place) => {
    const { guard } = place.instance();
    const reason = `a\0b\ud83d${'é'.repeat(40_000)}`;
    await guard.run(dayJob(), () => currentRun().skip(reason));
    assert.equal((await guard.ledger.get(FIRST_DAY))?.state, 'skipped');
    const [{ kind, detail = '' } = assert.fail('no event')] = await guard.ledger.history(FIRST_DAY);
    assert.equal(kind, 'skipped');
    assert.match(detail, /^a\\0b\ufffdé+… \(cut\)$/u);
    assert.ok(Buffer.byteLength(detail) <= 8 * 1024, detail.slice(-20));
  },
);

testLedger(
  'an error is truncated to 8 KiB, with its causes, and without its other properties (L-56)',
  async (place) => {
    const { guard } = place.instance();
    const cause = Object.assign(new RangeError('no rate \u0000 𠮷'), { parameters: ['secret'] });
    const error = new Error('x'.repeat(4000), { cause });
    await assert.rejects(guard.run(dayJob({ retry: { maxAttempts: 1 } }), () => Promise.reject(error)));
    const kept = (await guard.ledger.get(FIRST_DAY))?.error ?? '';
    assert.match(kept, /caused by: RangeError: no rate \\0 𠮷/);
    assert.ok(!kept.includes('secret'));
    assert.ok(Buffer.byteLength(kept) <= 8 * 1024);
  },
);

const NAMES = [
  ...['Close', 'close', 'CLOSE', 'clôse', 'clòse', 'ß', 'ss', 'İ', 'i', 'ı', '日次', '日次１', '日次1'],
  ...[
    "o'clock",
    'a"b',
    'a`b',
    'a\\b',
    'a%b',
    'a_b',
    "'; DROP TABLE cronlatch_run; --",
    '$1',
    ':name',
    '?',
    '😀',
  ],
  ...['a/b', 'a', 'b', 'null', 'undefined', '__proto__', 'n'.repeat(64)],
];

/** Where a text is used | a job with it | the key of its run */
const USES: readonly [string, (text: string) => JobConfiguration, (text: string) => Partial<RunKey>][] = [
  ['the name of a job', (name) => dayJob({ name }), (job) => ({ job })],
  ['a scope', (scope) => dayJob({ scope }), (scope) => ({ scope })],
  ['a custom period key', (key) => dayJob({ period: () => key }), (periodKey) => ({ periodKey })],
];

for (const [what, jobOf, keyOf] of USES)
  testLedger(`as ${what}: each text has a run of its own (L-57)`, async (place) => {
    const { guard } = place.instance();
    for (const text of NAMES)
      assert.deepEqual(await guard.run(jobOf(text), () => text), { executed: true, value: text });
    for (const text of NAMES) {
      assert.equal((await guard.run(jobOf(text), () => assert.fail('ran'))).executed, false, text);
      const run = await guard.ledger.get({ ...FIRST_DAY, ...keyOf(text) });
      assert.equal(run?.result, JSON.stringify(text));
    }
  });

const NO_NAMES: [string, unknown, string][] = [
  ['empty', '', 'must not be empty'],
  ['too long', 'n'.repeat(65), '65 characters, more than 64'],
  ['beginning with white space', ' close', 'white space'],
  ['ending with white space', 'close ', 'white space'],
  ['not in normal form C', 'e\u0301', 'normal form C'],
  ['with a control character', 'a\u0000b', 'control character'],
  ['of half a surrogate pair', 'a\ud800', 'surrogate'],
  ['no text', 7, 'must be a string'],
];

for (const [what, name, recordedReason] of NO_NAMES) {
  testLedger(
    `a name that is ${what} is rejected, as a job, a scope and a key (L-57, L-58)`,
    async (place) => {
      const { guard } = place.instance();
      const text = name as string;
      const never = (): never => assert.fail('ran');
      refused(() => guard.check(dayJob({ name: text })), recordedReason);
      await assert.rejects(guard.run(dayJob({ period: () => text }), never), (error: Error) => {
        assert.ok(error instanceof InvalidLockConfigurationError);
        assert.ok(
          error.message.includes(recordedReason) && error.message.includes('the key of a period'),
          error.message,
        );
        return true;
      });
      if (name === '') return; // The scope of a job without scopes.
      const scope = (): string => text;
      const scoped = guard.wrap(dayJob({ scope, resume: () => [] }), never, { onError: 'throw' });
      await assert.rejects(scoped(), { name: 'InvalidLockConfigurationError' });
      assert.deepEqual(await guard.ledger.list({}), []);
    },
  );
}

testLedger('if the key function throws, nothing runs, and the error has the cause (L-58)', async (place) => {
  const instance = place.instance();
  const { guard } = instance;
  const cause = new Error('no quarter known');
  const period = (): never => {
    throw cause;
  };
  await assert.rejects(
    guard.run(dayJob({ period }), () => assert.fail('ran')),
    { name: 'InvalidLockConfigurationError', message: /^The key function threw for 2026-11-20T03:00/, cause },
  );
  assert.equal(instance.of('lock:failed').length, 1);
});
