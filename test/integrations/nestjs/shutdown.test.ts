import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { SchedulerLock } from 'cronlatch';
import { Child } from '../../processes/child';
import { closing } from '../../support/benches/closing';
import { testWith, type DatabaseName } from '../../support/databases/fresh';
import { lockRows, migratedDataSource } from '../../support/databases/lock-table';
import { guardBench, nextEvent } from '../../support/benches/guard';
import { onSigterm, startWith } from './application';
import type { AppMessage } from './shutdown/app';

const ON: readonly DatabaseName[] = ['mysql', 'sqlite'];

@Injectable()
class EverySecond {
  @Cron('* * * * * *')
  @SchedulerLock('every-second', '1m', 0)
  async job(): Promise<void> {}
}

for (const name of ON) {
  testWith(
    name,
    'after SIGTERM during a job of a Nest application, its last repository call succeeds, its lock is free, and the process ends by the signal (F-13)',
    async (database) => {
      await using dataSource = closing(await migratedDataSource(database));
      await dataSource.query('CREATE TABLE invoices (id INT PRIMARY KEY)');
      const { environment } = database;
      await using app = closing(
        new Child<AppMessage>('../../integrations/nestjs/shutdown/app.js', { environment }),
      );
      await app.received('enter');
      const ended = app.endedWithin(25_000);
      app.kill('SIGTERM');
      await app.received('closing');
      // Soon after its guard has begun to close, ticks start nothing any more.
      await app.received('aborted');
      assert.equal((await lockRows(dataSource))[0]?.held, true, 'the lock is held while its job runs');
      app.send({ word: 'finish' });
      await app.received('leave');
      assert.deepEqual(await ended, [null, 'SIGTERM']);
      assert.equal((await lockRows(dataSource))[0]?.held, false, 'lock_until is at most now');
      assert.equal((await dataSource.query<unknown[]>('SELECT id FROM invoices')).length, 1);
      assert.equal(app.messages.filter(({ event }) => event === 'enter').length, 1);
    },
  );
}

/** Version 4 of signal-exit counts its listeners here. */
const signalExit = { count: 1 };

for (const [what, listener] of [
  ['a process without a listener for SIGTERM', undefined],
  ['a process in which only signal-exit listens to SIGTERM', () => {}],
] as const)
  void test(`${what} causes one warning, at its first tick`, async () => {
    const { guard, lines } = guardBench();
    process.off('SIGTERM', onSigterm);
    if (listener !== undefined) {
      process.on('SIGTERM', listener);
      Reflect.set(globalThis, Symbol.for('signal-exit emitter'), signalExit);
    }
    try {
      const app = await startWith(guard, [EverySecond]);
      await nextEvent(guard, 'run:completed');
      await nextEvent(guard, 'run:completed');
      await app.close();
    } finally {
      process.on('SIGTERM', onSigterm);
      if (listener !== undefined) process.off('SIGTERM', listener);
      Reflect.deleteProperty(globalThis, Symbol.for('signal-exit emitter'));
    }
    assert.equal(lines.length, 1);
    assert.match(lines.join(), /Nothing listens to SIGTERM.* app\.enableShutdownHooks\(\)/);
  });
