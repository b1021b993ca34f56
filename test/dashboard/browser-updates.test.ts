import assert from 'node:assert/strict';
import { testDashboard } from '../support/benches/dashboard';
import { operations } from 'cronlatch/operations';

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
  'ten open pages of one browser show each change, and take forms',
  async ({ browser, guard, address, runDaysAgo }) => {
    const context = await browser.newContext();
    const pages = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        await runDaysAgo(`job-${index}`, 1);
        const page = await context.newPage();
        await page.goto(`${address}?lock=job-${index}`);
        return page;
      }),
    );
    for (let index = 0; index < pages.length; index += 1)
      await operations(guard).pause({ lock: `job-${index}` }, { actor: 'bob', reason: 'audit' });
    await Promise.all(pages.map((page) => page.locator('#act-resume').waitFor()));
    for (const page of pages) {
      await page.locator('#act-resume summary').click();
      await page.getByLabel('Reason').fill('ticket 7');
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.locator('.done').waitFor();
    }
    for (let index = 0; index < pages.length; index += 1)
      assert.equal((await guard.locks.inspect(`job-${index}`))?.isHeld, false);
  },
);

testDashboard('a hidden page loads nothing, and is loaded when it is shown', async ({ browser, address }) => {
  const page = await browser.newPage();
  await page.clock.install();
  const setHidden = (isHidden: boolean): Promise<unknown> =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));`);
  await page.goto(address);
  let loads = 0;
  page.on('request', () => (loads += 1));
  await setHidden(true);
  await page.clock.runFor(60_000);
  assert.equal(loads, 0);
  const loaded = page.waitForRequest(address);
  await setHidden(false);
  await loaded;
});
