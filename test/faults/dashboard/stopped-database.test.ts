import { closing } from '../../support/benches/closing';
import { daily } from '../../support/benches/dashboard';
import { OwnServerBench } from '../../support/benches/own-server';
import { serveDashboard } from '../../support/benches/served-dashboard';
import { createRunTables } from '../../support/databases/run-tables';
import { inBrowser } from '../../support/processes/browser';
import { testOnOwn } from '../../support/servers/test-on';

testOnOwn(
  'postgres',
  'an open page of the dashboard reports that the database does not answer, until it is back',
  (t) =>
    inBrowser(t, async (browser) => {
      await using bench = closing(await OwnServerBench.on('postgres'));
      const { server, guard, application } = bench;
      await createRunTables(application);
      await guard.run(daily('close-day'), () => 'done');
      await using dashboard = closing(await serveDashboard(guard));
      const page = await browser.newPage();
      await page.goto(dashboard.address);

      await server.kill();
      await page.locator('#connection', { hasText: 'The database does not answer' }).waitFor();
      await page.getByRole('link', { name: 'close-day' }).first().waitFor();
      await server.restart();

      await page.locator('#connection:empty').waitFor({ state: 'attached' });
    }),
);
