import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { linePattern } from '../../examples/header';
import { promiseOf, testOnEveryDatabase, untilAny } from '../../examples/running-example';

void describe('an example of a lock that is renewed', { concurrency: 4 }, () => {
  testOnEveryDatabase(
    'keep-alive',
    'the lock is renewed, and another instance starts after the holder was killed',
    async (start) => {
      const first = start();
      await first.until(() => first.lines.length > 1, 'a run');
      const second = start();
      await first.until(() => first.lines.length === 6, 'five parts');
      assert.ok(second.lines.length <= 1, 'nothing runs beside a run that is longer than lockAtMostFor');
      await first.prints();
      await second.until(() => second.lines.length > 0, 'its start');

      // At the next tick, either of them can run.
      await untilAny([first, second], (lines) => lines.length > 8, 'the next run');
      const [killed, survivor] = second.lines.length > 1 ? [second, first] : [first, second];
      const before = survivor.lines.length;
      await killed.kill();
      const again = new RegExp(`^${linePattern(promiseOf('keep-alive', 1)[0] ?? '')}$`);
      await survivor.until(() => again.test(survivor.lines[before] ?? ''), 'the run after the kill');
    },
  );
});
