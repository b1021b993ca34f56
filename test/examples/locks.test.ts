import { describe, test } from 'node:test';
import { exampleStarter, testOnEveryDatabase } from './running-example';

// They wait more than they work, but each is one or two processes.
void describe('examples of locks', { concurrency: 6 }, () => {
  testOnEveryDatabase('decorator', 'a second call is skipped while lockAtLeastFor lasts', async (start) => {
    await start().printsAndEnds();
    await start().printsAndEnds(1);
  });

  testOnEveryDatabase(
    'goods-to-order',
    'an item is ordered once, and an old token is refused',
    async (start) => {
      await start().printsAndEnds();
    },
  );

  void test('operated-job: it runs on request, keeps its log, sends a notice, and is paused', async (t) => {
    await exampleStarter('operated-job', t, { environment: {} })().printsAndEnds();
  });

  void test('nightly-command: one of two hosts runs the program, and not while an operator holds its lock', async (t) => {
    await exampleStarter('nightly-command', t, { environment: {} })().printsAndEnds();
  });

  void test('own-lock-provider: a lock is kept until lockAtLeastFor has passed', async (t) => {
    await exampleStarter('own-lock-provider', t, { environment: {} })().printsAndEnds();
  });
});
