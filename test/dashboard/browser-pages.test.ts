import assert from 'node:assert/strict';
import axe, { type AxeResults } from 'axe-core';
import { pagesOf, testDashboard } from '../support/benches/dashboard';
import { operations } from 'cronlatch/operations';

/** The dark scheme changes colours only. */
const SCHEMES = [
  ['light', {}],
  ['dark', { runOnly: ['color-contrast'] }],
] as const;

testDashboard(
  'the heading and the grid show the jobs and runs that are in the database',
  async ({ browser, guard, address, runDaysAgo }) => {
    for (const days of [3, 2, 1]) await runDaysAgo('close-day', days);
    await runDaysAgo('close-day', 0, new Error('no bank'));
    await runDaysAgo('report', 1);
    const page = await browser.newPage();
    await page.goto(address);

    assert.equal(await page.locator('h1').textContent(), '1 needs attention');
    assert.equal(await page.title(), '1 failed – cronlatch');
    const cells = await page.locator('#grid td a[aria-label]').all();
    const shown = await Promise.all(cells.map((cell) => cell.getAttribute('aria-label')));
    const runs = await guard.ledger.list();
    assert.deepEqual(
      shown.map((label) => label?.replace(/, \d+ ms$/, '')).sort(),
      runs.map(({ job, periodKey, state }) => `${job} ${periodKey} ${state}`).sort(),
    );
  },
);

testDashboard(
  'a job whose name is markup stays text on every page',
  async ({ browser, guard, address, runDaysAgo }) => {
    const job = `<img src=x onerror="document.title='hacked'">`;
    const period = await runDaysAgo(job, 0, new Error(job));
    await operations(guard).pause({ lock: job }, { actor: job, reason: job });
    const page = await browser.newPage();
    for (const query of pagesOf(job, period)) {
      await page.goto(address + query, { waitUntil: 'load' });
      assert.match((await page.locator('main').textContent()) ?? '', /<img src=x onerror=/, query);
      assert.equal(await page.locator('img').count(), 0, query);
    }
  },
);

testDashboard(
  'no page sends a request to another host, or reports an error to the console',
  async ({ browser, address, runDaysAgo }) => {
    const period = await runDaysAgo('close-day', 0, new Error('no bank'));
    const page = await browser.newPage();
    await page.clock.install();
    const [hosts, errors] = [new Set<string>(), new Array<string>()];
    page.on('request', (request) => hosts.add(new URL(request.url()).origin));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    page.on('pageerror', (error) => errors.push(error.message));
    for (const query of pagesOf('close-day', period)) {
      const loadedAgain = page.waitForResponse((response) => response.request().resourceType() === 'fetch');
      await page.goto(address + query);
      await page.clock.runFor(5000);
      await loadedAgain;
    }
    assert.deepEqual([[...hosts], errors], [[new URL(address).origin], []]);
  },
);

testDashboard(
  'every page fits its window and passes the checks of axe, light and dark, narrow and wide',
  async ({ browser, address, runDaysAgo }) => {
    for (const days of [3, 2, 1]) await runDaysAgo('close-day', days);
    const period = await runDaysAgo('close-day', 0, new Error('no bank'));
    // The policy of the pages refuses the script of axe.
    const page = await browser.newPage({ bypassCSP: true });
    const found: string[] = [];
    for (const query of [...pagesOf('close-day', period), '?job=no-such-job']) {
      await page.goto(address + query);
      await page.evaluate(axe.source);
      for (const [colorScheme, rules] of SCHEMES)
        for (const width of [360, 768, 1920]) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 800 });
          const place = `${query} ${colorScheme} ${width}`;
          const wider = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
          if (wider > 0) found.push(`${place}: ${wider} px wider than the window`);
          const { violations } = await page.evaluate<AxeResults>(
            `axe.run(document, ${JSON.stringify(rules)})`,
          );
          for (const { id, nodes } of violations) found.push(`${place}: ${id} ${nodes[0]?.html}`);
        }
    }
    assert.deepEqual(found, []);
  },
);
