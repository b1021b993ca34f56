import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { daily, pagesOf, testDashboard } from '../support/benches/dashboard';
import { operations } from 'cronlatch/operations';

const NO_BANK = new Error('no bank today');

testDashboard(
  'from the first page to the rerun of a failed run it takes two clicks and a reason, and its completion appears by itself',
  async ({ browser, guard, address, runDaysAgo }) => {
    await runDaysAgo('close-day', 0, NO_BANK);
    guard.wrap(daily('close-day'), () => 'done');
    const page = await browser.newPage();
    await page.goto(address);

    await page.getByRole('list', { name: 'Needs attention' }).getByText('Run it again…').click();
    const form = page.getByRole('dialog', { name: 'Run it again' });
    await form.getByLabel('Reason').fill('the bank is back');
    await form.getByRole('button', { name: 'Run it again' }).click();
    await page.getByRole('status').filter({ hasText: 'the run is due at once' }).waitFor();
    await page.evaluate("document.body.dataset.loaded = 'once'");
    await guard.runOverdue();

    await page.locator('.pill', { hasText: 'Completed' }).waitFor();
    assert.equal(await page.locator('body[data-loaded=once]').count(), 1, 'The page was loaded again.');
  },
);

testDashboard(
  'the keyboard alone moves through the grid, opens a run and reruns it',
  async ({ browser, guard, address, runDaysAgo }) => {
    const yesterday = await runDaysAgo('close-day', 1);
    const today = await runDaysAgo('close-day', 0, NO_BANK);
    await runDaysAgo('report', 0);
    const page = await browser.newPage();
    const tabTo = async (place: Locator): Promise<void> => {
      for (let tabs = 0; tabs < 40 && (await place.count()) === 0; tabs += 1)
        await page.keyboard.press('Tab');
    };
    const focused = page.locator('#grid a:focus');
    const press = async (key: string): Promise<string | null> => {
      await page.keyboard.press(key);
      return await focused.getAttribute('aria-label');
    };
    await page.goto(address);

    await tabTo(page.locator('#grid td a:focus'));
    assert.match(
      (await focused.getAttribute('aria-label')) ?? '',
      new RegExp(`^close-day ${yesterday} completed`),
    );
    assert.match((await press('ArrowRight')) ?? '', new RegExp(`^close-day ${today} failed`));
    assert.match((await press('ArrowDown')) ?? '', new RegExp(`^report ${today} completed`));
    assert.match((await press('ArrowUp')) ?? '', new RegExp(`^close-day ${today} failed`));
    await page.keyboard.press('Enter');
    await page.waitForURL(/period=/);
    await tabTo(page.locator('#act-rerun summary:focus'));
    await page.keyboard.press('Enter');
    await page.locator('#rerun-reason:focus').waitFor();
    await page.keyboard.type('the bank is back');
    await page.keyboard.press('Enter');

    await page.locator('.done').waitFor();
    assert.equal((await guard.ledger.get({ job: 'close-day', periodKey: today }))?.state, 'pending');
  },
);

testDashboard(
  'without JavaScript an operator can rerun a failed run',
  async ({ browser, guard, address, runDaysAgo }) => {
    const period = await runDaysAgo('close-day', 0, NO_BANK);
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(`${address}?job=close-day&period=${period}`);

    await page.locator('#act-rerun summary').click();
    await page.locator('#rerun').getByLabel('Reason').fill('the bank is back');
    await page.getByRole('button', { name: 'Run it again' }).click();

    await page.locator('.done').waitFor();
    const history = await guard.ledger.history({ job: 'close-day', periodKey: period });
    const { kind, actor, detail = '' } = history.at(-1) ?? {};
    assert.deepEqual([kind, actor], ['rerun', 'alice']);
    assert.match(detail, /^the bank is back/);
  },
);

testDashboard(
  'a page that changes during a form keeps what was typed, and is updated when the form is closed',
  async ({ browser, guard, address, runDaysAgo }) => {
    const period = await runDaysAgo('close-day', 0, NO_BANK);
    const page = await browser.newPage();
    await page.goto(`${address}?job=close-day&period=${period}`);
    const reason = page.locator('#rerun').getByLabel('Reason');
    await page.locator('#act-rerun summary').click();
    await reason.fill('the bank is');
    await operations(guard).rerun({ job: 'close-day', period }, { actor: 'bob', reason: 'I am faster' });
    await page.locator('#connection', { hasText: 'The page has changed' }).waitFor();
    assert.equal(await reason.inputValue(), 'the bank is');

    await page.getByRole('button', { name: 'Cancel' }).click();

    await page.locator('.pill', { hasText: 'Pending' }).waitFor();
    assert.equal(await page.locator('#connection').textContent(), '');
  },
);

testDashboard(
  'a long word in an error makes no page wider than a narrow window',
  async ({ browser, address, runDaysAgo }) => {
    const period = await runDaysAgo('close-day', 0, new Error('x'.repeat(300)));
    const page = await browser.newPage({ viewport: { width: 360, height: 800 } });
    for (const query of pagesOf('close-day', period)) {
      await page.goto(address + query);
      const wider = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.ok(wider <= 0, `${query} is ${wider} px wider than the window`);
    }
  },
);

testDashboard('a form that is refused shows why', async ({ browser, address, runDaysAgo }) => {
  const period = await runDaysAgo('close-day', 0, NO_BANK);
  const page = await browser.newPage();
  await page.goto(`${address}?job=close-day&period=${period}`);
  await page.locator('#act-rerun summary').click();
  await page.locator('#rerun').getByLabel('Reason').fill('the bank is back');
  await page.evaluate(`document.querySelector('#rerun [name=token]').value = 'another'`);
  const loaded = page.waitForEvent('load');
  await page.getByRole('button', { name: 'Run it again' }).click();
  await loaded;

  await page.getByRole('alert').filter({ hasText: 'The page is too old. Load it again.' }).waitFor();
  // The page that the events bring would hide it.
  assert.equal(await page.locator('script').count(), 0);
});
