import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { judge, type Verdict } from './judge';
import type { DeployMessage } from './settings';

/** A run of the job in milliseconds, as its worker reports it. */
function run(token: number, fromMs: number, untilMs?: number, held = true): DeployMessage[] {
  const enter = { event: 'enter', job: 'close-day', token, atMs: fromMs, requestedAtMs: fromMs } as const;
  if (untilMs === undefined) return [enter];
  return [enter, { event: 'leave', job: 'close-day', token, atMs: untilMs, held }];
}

const verdictOn = (...workers: DeployMessage[][]): Verdict => judge(workers, { fromMs: 0, untilMs: 100 });

void suite('the judge of a deploy', () => {
  void test('runs one after the other, by any worker, cause no complaint', () => {
    const { runs, complaints } = verdictOn([...run(1, 10, 20), ...run(3, 40, 50)], run(2, 30, 40));
    assert.deepEqual([runs, complaints], [3, []]);
  });

  void test('two runs at the same time overlap', () =>
    assert.deepEqual(verdictOn(run(1, 10, 20), run(2, 19, 30)).complaints, [
      'close-day, run 2: it started inside run 1.',
    ]));

  void test('a lock that is released during a run, and a run that never ends, are reported', () => {
    assert.deepEqual(verdictOn(run(1, 10, 20, false)).complaints, [
      'close-day, run 1: the lock was released while it ran.',
    ]);
    assert.deepEqual(verdictOn(run(1, 10)).complaints, ['close-day, run 1: its worker ended inside it.']);
  });

  void test('a call that rejects is reported, unless the storage was the cause', () => {
    const failed = { event: 'failed', job: 'close-day' } as const;
    const { complaints, skipped } = verdictOn([
      { ...failed, isStorage: true, text: 'LockStorageError: away' },
      { ...failed, isStorage: false, text: 'LockLostError: lost' },
    ]);
    assert.deepEqual([complaints, skipped], [['close-day: LockLostError: lost'], 2]);
  });

  void test('a token that does not rise is reported', () =>
    assert.deepEqual(verdictOn(run(2, 10, 20), run(1, 30, 40)).complaints, [
      'close-day, run 1: its token is not higher than 2.',
    ]));

  void test('a run within lockAtLeastFor of the request of the run before is reported', () => {
    const startAt = (secondMs: number): readonly string[] => {
      const [first, second] = [run(1, 10, 20), run(2, secondMs, secondMs + 10)].map((messages) =>
        messages.map((message) => ({ ...message, job: 'send-invoices' })),
      ) as [DeployMessage[], DeployMessage[]];
      return verdictOn(first, second).complaints;
    };
    assert.deepEqual(startAt(999), ['send-invoices, run 2: it started within lockAtLeastFor of run 1.']);
    assert.deepEqual(startAt(1000), []);
  });

  void test('the longest gap counts from the start, between runs, and to the end', () => {
    const other: DeployMessage[] = [
      { event: 'enter', job: 'send-invoices', token: 1, atMs: 1, requestedAtMs: 1 },
      { event: 'leave', job: 'send-invoices', token: 1, atMs: 99, held: true },
    ];
    assert.equal(verdictOn(other, run(1, 60, 70)).longestGapMs, 60);
    assert.equal(verdictOn(other, run(1, 5, 6), run(2, 50, 90)).longestGapMs, 44);
    assert.equal(verdictOn(other, run(1, 5, 20)).longestGapMs, 80);
  });
});
