import assert from 'node:assert/strict';
import type { JobGuard } from 'cronlatch';
import type { Page } from 'playwright-core';
import { operations } from 'cronlatch/operations';
import { daily, pagesOf, testDashboard } from '../support/benches/dashboard';
import { fillSample } from '../support/pictures/sample';
import { SampleRows } from '../support/pictures/sample-rows';

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
    const focused = page.locator('#grid a:focus');
    const press = async (key: string): Promise<string | null> => {
      await page.keyboard.press(key);
      return await focused.getAttribute('aria-label');
    };
    await page.goto(address);

    await tabTo(page, '#grid td a');
    assert.match(
      (await focused.getAttribute('aria-label')) ?? '',
      new RegExp(`^close-day ${yesterday} completed`),
    );
    assert.match((await press('ArrowRight')) ?? '', new RegExp(`^close-day ${today} failed`));
    assert.match((await press('ArrowDown')) ?? '', new RegExp(`^report ${today} completed`));
    assert.match((await press('ArrowUp')) ?? '', new RegExp(`^close-day ${today} failed`));
    await page.keyboard.press('Enter');
    await page.waitForURL(/period=/);
    await tabTo(page, '#act-rerun summary');
    await page.keyboard.press('Enter');
    await page.locator('#rerun-reason:focus').waitFor();
    await page.keyboard.type('the bank is back');
    await page.keyboard.press('Enter');

    await page.locator('.done').waitFor();
    assert.equal((await guard.ledger.get({ job: 'close-day', periodKey: today }))?.state, 'pending');
  },
);

testDashboard(
  'the keyboard alone opens, cancels, fills in, confirms and sends the form of each act',
  async ({ browser, file, guard, address }) => {
    const rows = new SampleRows(file);
    rows.update('cronlatch_job', { registered_at: Date.now() - 3_600_000 }, `job_name = 'disabled-report'`);
    rows.close();
    const page = await browser.newPage();
    for (const act of await actsOnSample(guard)) {
      await page.goto(address + act.query);
      await cancelByKeyboard(page, `[id="act-${act.form}"] > summary`);
      await sendByKeyboard(page, act);
      const [newest] = await operations(guard).acts({ limit: 1 });
      assert.deepEqual([newest?.verb, newest?.reason], [act.verb ?? act.form, `ticket of ${act.form}`]);
    }
    const [resolved] = await guard.ledger.list({ job: 'import-bank-statements', limit: 1 });
    assert.equal(resolved?.state, 'failed');
  },
  fillSample,
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

async function tabTo(page: Page, selector: string): Promise<void> {
  const focused = page.locator(`${selector}:focus`);
  for (let tabs = 0; tabs < 60 && (await focused.count()) === 0; tabs += 1) await page.keyboard.press('Tab');
  await focused.waitFor();
}

/** Opens the form of a button, and cancels it in both ways. Each puts the focus back on the button. */
async function cancelByKeyboard(page: Page, button: string): Promise<void> {
  const opened = page.locator('dialog [name=reason]:focus');
  const closedBy = async (key: string): Promise<void> => {
    await page.keyboard.press(key);
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.locator(`${button}:focus`).waitFor();
  };
  await tabTo(page, button);
  await page.keyboard.press('Enter');
  await opened.waitFor();
  await page.keyboard.type('not yet');
  await closedBy('Escape');
  await page.keyboard.press('Space');
  await opened.waitFor();
  await tabTo(page, 'dialog .cancel');
  await closedBy('Enter');
}

/** Opens the form of the button that has the focus, fills it in and sends it. */
async function sendByKeyboard(page: Page, { form, typed, asks = false }: ActOnSample): Promise<void> {
  await page.keyboard.press('Enter');
  await page.locator('dialog [name=reason]:focus').waitFor();
  for (const [name, text] of Object.entries({ ...typed, reason: `ticket of ${form}` })) {
    await tabTo(page, `dialog [name=${name}]`);
    await page.keyboard.type(text);
  }
  await page.keyboard.press('Enter');
  if (asks) {
    await page.locator('dialog .confirm').waitFor();
    await tabTo(page, 'dialog [name=confirmed]');
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
  }
  await page.locator('.done').waitFor();
}

interface ActOnSample {
  readonly query: string;
  readonly form: string;
  /** Default: the form */
  readonly verb?: string;
  /** In the fields before the reason. */
  readonly typed?: Readonly<Record<string, string>>;
  /** It must be confirmed. */
  readonly asks?: boolean;
}

/** One of each kind. The form of a problem is on the first page, too. */
async function actsOnSample({ ledger }: JobGuard): Promise<ActOnSample[]> {
  const periodOf = async (job: string): Promise<string> =>
    (await ledger.list({ job, limit: 1 }))[0]?.periodKey ?? '';
  const failed = await periodOf('settle-card-payments');
  const newest = Date.parse(await periodOf('send-invoices'));
  const [missed = '', missedToo = ''] = [2, 10].map((days) =>
    new Date(newest - days * 86_400_000).toISOString().slice(0, 10),
  );
  const [year, month, day] = missed.split('-');
  const date = `${month}${day}${year}`;
  return [
    // Its holder stops to renew it, so this is first.
    { query: '?lock=rebuild-search-index', form: 'release', asks: true },
    { query: '?job=purge-expired-sessions', form: 'run' },
    {
      query: '?job=send-invoices',
      form: 'run-range',
      verb: 'run',
      typed: { from: date, to: date },
      asks: true,
    },
    { query: '?job=purge-expired-sessions', form: 'pause', typed: { until: '2h' } },
    { query: '?job=purge-expired-sessions', form: 'resume' },
    { query: '', form: `rerun/settle-card-payments/settle-card-payments/${failed}`, verb: 'rerun' },
    {
      query: `?job=import-bank-statements&period=${await periodOf('import-bank-statements')}`,
      form: 'resolve',
      typed: { as: 'failed' },
    },
    { query: `?job=send-invoices&period=${missedToo}`, form: 'skip' },
    { query: '?job=disabled-report', form: 'forget' },
  ];
}
