import assert from 'node:assert/strict';
import { configureJobGuard } from 'cronlatch';
import { closing } from '../support/benches/closing';
import { testDrivers } from '../support/benches/driver';
import { testCodeOn } from '../support/checks/page-tests';
import { eventually } from '../support/clocks/eventually';
import { openGuard, Payments } from './operating/keep-log';
import type { RunLogEntry } from '#cronlatch/ledger/run-log-store';

testCodeOn('docs/operating.md', 'test/docs/operating');

testDrivers(
  'the log of the page is kept without the numbers of cards',
  async (bench) => {
    await bench.createTables();
    await using guard = closing(await openGuard(bench.url));
    configureJobGuard(guard, { replace: true });
    await new Payments([{ id: 'p-1', card: '4111111111111111' }]).settle();
    configureJobGuard(undefined);
    const run = await guard.ledger.last('settle-card-payments');
    assert.ok(run);
    let log: readonly RunLogEntry[] = [];
    await eventually(async () => (log = await guard.ledger.log(run)).length > 0, 'the log is stored');
    assert.deepEqual(
      log.map(({ lines }) => lines),
      ['settling p-1 of card ****\n'],
    );
  },
  ['mysql'],
);
