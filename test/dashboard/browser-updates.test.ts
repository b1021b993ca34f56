import assert from 'node:assert/strict';
import { testDashboard } from '../support/benches/dashboard';

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
