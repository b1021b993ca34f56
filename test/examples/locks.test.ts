import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { linePattern } from './header';
import { exampleStarter, promiseOf, testOnEveryDatabase, untilAny } from './running-example';

// They wait more than they work, but each is one or two processes.
void describe('examples of locks', { concurrency: 6 }, () => {
  testOnEveryDatabase('decorator', 'a second call is skipped while lockAtLeastFor lasts', async (start) => {
    await start().printsAndEnds();
    await start().printsAndEnds(1);
  });

  testOnEveryDatabase(
    'keep-alive',
    'the lock is renewed, and another instance starts after the holder was killed',
    async (start) => {
      const first = start();
      await first.until(() => first.lines.length > 0, 'any line');
      const second = start();
      await first.until(() => first.lines.length === 5, 'five parts');
      assert.deepEqual(second.lines, [], 'nothing runs beside a run that is longer than lockAtMostFor');
      await first.prints();

      // At the next tick, either of them can run.
      await untilAny([first, second], (lines) => lines.length > 6, 'the next run');
      const [killed, survivor] = second.lines.length > 0 ? [second, first] : [first, second];
      const before = survivor.lines.length;
      await killed.kill();
      const again = new RegExp(`^${linePattern(promiseOf('keep-alive', 1)[0] ?? '')}$`);
      await survivor.until(() => again.test(survivor.lines[before] ?? ''), 'the run after the kill');
    },
  );

  testOnEveryDatabase(
    'goods-to-order',
    'an item is ordered once, and an old token is refused',
    async (start) => {
      await start().printsAndEnds();
    },
  );

  void test('nightly-command: one of two hosts runs the program, and not while an operator holds its lock', async (t) => {
    await exampleStarter('nightly-command', t, { environment: {} })().printsAndEnds();
  });

  void test('own-lock-provider: a lock is kept until lockAtLeastFor has passed', async (t) => {
    await exampleStarter('own-lock-provider', t, { environment: {} })().printsAndEnds();
  });
});
