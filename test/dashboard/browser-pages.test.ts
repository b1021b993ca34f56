import assert from 'node:assert/strict';
import axe, { type AxeResults } from 'axe-core';
import type { JobGuard } from 'cronlatch';
import type { Page } from 'playwright-core';
import { pagesOf, testDashboard, type DashboardBench } from '../support/benches/dashboard';
import { fillSample, refreshSample } from '../support/pictures/sample';
import { operations } from 'cronlatch/operations';

const WIDTHS = [360, 768, 1280, 1920];

/** All rules of A and AA, and its best practices. axe leaves this one of WCAG 2.2 out by default. */
const AXE = { rules: { 'target-size': { enabled: true } }, resultTypes: ['violations'] };

/**
 * A script that returns each word that is on more than one line, with what is around it. A line may end at a hyphen. Keys and
 * stacks have no words, and a longer word may have no place in a narrow window.
 */
const BROKEN_WORDS = `(() => {
  const broken = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement: around } = texts.currentNode;
    if (around.closest('code, pre') || !around.checkVisibility()) continue;
    for (const { 0: word, index } of data.matchAll(/[^\\s-]+/g)) {
      if (word.length > 30) continue;
      const range = new Range();
      range.setStart(texts.currentNode, index);
      range.setEnd(texts.currentNode, index + word.length);
      const lines = new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top)));
      if (lines.size > 1) broken.push(word + ' in ' + around.outerHTML);
    }
  }
  return broken;
})()`;

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
  'every page and a form fit the window and pass the checks of axe, light and dark, narrow and wide',
  async (bench) => {
    const found: string[] = [];
    const check = async (page: Page, place: string): Promise<void> => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 800 });
          const at = `${place} ${colorScheme} ${width}`;
          const wider = await page.evaluate<number>('document.scrollingElement.scrollWidth - innerWidth');
          if (wider > 0) found.push(`${at}: ${wider} px wider than the window`);
          const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(AXE)})`);
          const parts = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id} ${html}`));
          found.push(...parts.map((part) => `${at}: ${part}`));
        }
      }
    };
    for await (const [query, page] of pagesOfSample(bench)) {
      await page.evaluate(axe.source);
      await check(page, query);
      if (query !== '?job=close-day') continue;
      await page.locator('#act-run-range summary').click();
      await check(page, `${query} with a form`);
    }
    assert.deepEqual(found, []);
  },
  fillSample,
);

testDashboard(
  'no page and no form breaks a word, narrow or wide',
  async (bench) => {
    const found: string[] = [];
    for await (const [query, page] of pagesOfSample(bench)) {
      const check = async (place: string): Promise<void> => {
        const words = await page.evaluate<string[]>(BROKEN_WORDS);
        found.push(...words.map((word) => `${query} ${place}: ${word}`));
      };
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 800 });
        await check(`${width}`);
      }
      // A form is never wider than it can be here.
      for (const button of await page.locator('details.act > summary').all()) {
        await button.click();
        await check(`360 ${await button.textContent()}`);
        await page.keyboard.press('Escape');
        await page.locator('dialog').waitFor({ state: 'detached' });
      }
    }
    assert.deepEqual(found, []);
  },
  fillSample,
);

/** Each page of the sample, loaded, with its parts unfolded. It stays as it is while a test examines it. */
async function* pagesOfSample({
  browser,
  file,
  guard,
  address,
  runDaysAgo,
}: DashboardBench): AsyncGenerator<[string, Page]> {
  const lock = await guard.lockManager().tryLock({ name: 'books', lockAtMostFor: '10m' });
  await lock?.unlock();
  await runDaysAgo('ReportService.sendReports', 0);
  // The policy of the pages refuses the script of axe.
  const page = await browser.newPage({ bypassCSP: true });
  await page.addInitScript('window.setInterval = () => 0');
  for (const query of await queriesOfSample(guard)) {
    refreshSample(file);
    await page.goto(address + query);
    await page.evaluate(
      `document.querySelectorAll('details:not(.act)').forEach((part) => (part.open = true))`,
    );
    yield [query, page];
  }
}

async function queriesOfSample({ ledger }: JobGuard): Promise<string[]> {
  const periodsOf = async (job: string): Promise<string[]> =>
    (await ledger.list({ job, limit: 10 })).map(({ periodKey }) => periodKey);
  const [, afterGap = ''] = await periodsOf('send-invoices');
  const runs = {
    // With a log and a result.
    'close-day': (await periodsOf('close-day'))[6],
    'settle-card-payments': (await periodsOf('settle-card-payments'))[0],
    'import-bank-statements': (await periodsOf('import-bank-statements'))[0],
    'send-invoices': new Date(Date.parse(afterGap) - 86_400_000).toISOString().slice(0, 10),
  };
  const jobs = ['close-day', 'send-reminders', 'ReportService.sendReports', 'no-such-job'];
  return [
    ...['?days=30', '?days=90', '?days=365'],
    ...jobs.map((job) => `?job=${job}`),
    ...Object.entries(runs).map(([job, period]) => `?job=${job}&period=${period}`),
    ...['?locks=held', '?locks=all', '?lock=rebuild-search-index', '?lock=books'],
  ];
}
