import assert from 'node:assert/strict';
import { LockStorageError } from 'cronlatch';
import { SqlRunStore } from '#cronlatch/storage/sql/ledger/sql-run-store';
import { testDashboard } from '../support/benches/dashboard';

testDashboard(
  'an open page reports that the database does not answer, until it answers again',
  async ({ browser, address, runDaysAgo }, t) => {
    await runDaysAgo('close-day', 0);
    const page = await browser.newPage();
    await page.goto(address);
    const away = t.mock.method(SqlRunStore.prototype, 'jobs', () =>
      Promise.reject(new LockStorageError('connection refused', { outcome: 'nothing-ran' })),
    );

    await page.locator('#connection', { hasText: 'The database does not answer' }).waitFor();
    away.mock.restore();

    await page.locator('#connection:empty').waitFor({ state: 'attached' });
  },
);

testDashboard(
  'an open page reports that its server is down, until the server is back',
  async ({ browser, address, stopServer, startServer, runDaysAgo }) => {
    await runDaysAgo('close-day', 0);
    const page = await browser.newPage();
    await page.goto(address);

    await stopServer();
    await page.locator('#connection', { hasText: 'The connection is lost' }).waitFor();
    await startServer();

    await page.locator('#connection:empty').waitFor({ state: 'attached' });
  },
);

testDashboard(
  'a form that an operator fills in stays when its page changes',
  async ({ browser, guard, address, runDaysAgo }) => {
    const period = await runDaysAgo('close-day', 0, new Error('no bank today'));
    const page = await browser.newPage();
    const streamed = page.waitForResponse(/events/);
    await page.goto(`${address}?job=close-day&period=${period}`);
    await streamed;
    const reason = page.locator('#rerun').getByLabel('Reason');
    await reason.fill('the bank is');

    await guard.ledger.rerun(
      { job: 'close-day', periodKey: period },
      { actor: 'bob', reason: 'I am faster' },
    );

    await page.locator('#connection', { hasText: 'The page has changed' }).waitFor();
    assert.equal(await reason.inputValue(), 'the bank is');
  },
);
