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
