import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { SchedulerLock } from 'cronlatch';
import { useTestGuard, type TestGuard } from 'cronlatch/testing';
import { sampleSize } from '../support/checks/sample-size';

type Act = (self: unknown, args: readonly unknown[]) => unknown;

class Jobs {
  constructor(private readonly act: Act) {}

  @SchedulerLock('job', '1m')
  async run(...args: unknown[]): Promise<unknown> {
    return await this.act(this, args);
  }
}

let bench: TestGuard;
before(() => void (bench = useTestGuard()));
after(() => bench.dispose());

const numRuns = sampleSize({ fast: 200, full: 10_000 });

void test('arguments, value and this are passed through unchanged (F-88)', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.anything()), fc.anything({ withDate: true }), async (args, value) => {
      let seen: readonly [unknown, readonly unknown[]] | undefined;
      const jobs = new Jobs((...call) => {
        seen = call;
        return [value];
      });
      const [result] = (await jobs.run(...args)) as [unknown];
      assert.ok(Object.is(result, value));
      assert.equal(seen?.[0], jobs);
      assert.ok(seen[1].length === args.length && seen[1].every((arg, i) => Object.is(arg, args[i])));
    }),
    { numRuns },
  ));

void test('any thrown value is rethrown unchanged (F-88)', () =>
  fc.assert(
    fc.asyncProperty(fc.anything(), async (thrown) => {
      const jobs = new Jobs(() => {
        throw thrown;
      });
      const outcome = await jobs.run().then(
        () => 'resolved',
        (reason: unknown) => [reason],
      );
      assert.ok(Array.isArray(outcome) && Object.is(outcome[0], thrown));
    }),
    { numRuns },
  ));

void test('the stack of an error leads to the handler (F-88)', async () => {
  const jobs = new Jobs(function culprit() {
    throw new Error('mine');
  });
  await assert.rejects(
    jobs.run(),
    ({ stack }: Error) => /culprit/.test(stack ?? '') && /Jobs\.run/.test(stack ?? ''),
  );
});
