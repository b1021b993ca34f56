import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { currentRun, InvalidLockConfigurationError, LockStorageError } from 'cronlatch';
import { createDashboard, type Access, type DashboardOptions } from 'cronlatch/dashboard';
import { callsOf } from '#cronlatch/guard/calls/calls';
import { testOperated, type Operated } from '../cli/operated';
import { dailyJob, register, registerEarlier } from '../cli/year-of-runs';
import { closing } from '../support/benches/closing';
import { guardOfRuns } from '../support/benches/guard-of-runs';
import { turn } from '../support/benches/lock';
import { eventually } from '../support/clocks/eventually';
import { ANNE, fieldsOf, ORIGIN, siteOf } from './site';

/** As code without types, or with other ones, passes it. */
function untyped<T>(value: unknown): T {
  return value as T;
}

void test('without a guard or access, there is no dashboard', () => {
  const { guard } = guardOfRuns();
  for (const [options, culprit] of [
    [{ guard }, /^access of createDashboard is undefined: /],
    [{ guard, access: 'operate' }, /^access of createDashboard is /],
    [{ access: () => ANNE }, /^guard of createDashboard is undefined: /],
  ] as const)
    assert.throws(
      () => createDashboard(untyped<DashboardOptions>(options)),
      (error) => error instanceof InvalidLockConfigurationError && culprit.test(error.message),
    );
});

const FAILED = new Error('no directory');

void test('any other answer than a level means no access, and is one warning', async () => {
  const { guard } = guardOfRuns();
  const warnings: { readonly message: string; readonly error?: unknown }[] = [];
  guard.on('guard:warning', (warning) => void warnings.push(warning));
  const noLevel = /returned no level of 'none', 'read' and 'operate', so /;
  const noActor = /returned 'operate' without an actor of 1 to 128 characters, so /;
  const answers: readonly (readonly [answer: () => unknown, warning?: RegExp, error?: Error])[] = [
    [() => ({ level: 'none' })],
    ...[undefined, null, 'operate', true].map((given) => [() => given, noLevel] as const),
    [() => ({ level: 'admin', actor: 'anne' }), noLevel],
    ...[undefined, ' ', 'x'.repeat(129)].map(
      (actor) => [() => ({ level: 'operate', actor }), noActor] as const,
    ),
    [() => Promise.reject(FAILED), /failed/, FAILED],
    [
      () => {
        throw FAILED;
      },
      /failed/,
      FAILED,
    ],
  ];
  for (const [answer, warning, error] of answers) {
    const site = siteOf(guard, { access: () => untyped<Access>(answer()) });
    for (const { status, text } of [await site.get(), await site.post('', {})]) {
      assert.equal(status, 401, String(answer));
      assert.match(text, /You may not see this dashboard\./);
    }
    const [first, ...more] = warnings.splice(0);
    assert.match(first?.message ?? '', warning ?? /^$/, String(answer));
    assert.equal(first?.error, error);
    assert.deepEqual(more, []);
  }
});

void test('access that does not answer within 5 s means none', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const site = siteOf(guardOfRuns().guard, { access: () => new Promise(() => {}) });
    let isAnswered = false;
    const answer = site.get().finally(() => (isAnswered = true));
    await turn();
    mock.timers.tick(4999);
    await turn();
    assert.equal(isAnswered, false);
    mock.timers.tick(1);
    assert.equal((await answer).status, 401);
  } finally {
    mock.timers.reset();
  }
});

void test('access is asked for with each request', async () => {
  const asked: string[] = [];
  const access = ({ method, url }: Request): Access => {
    asked.push(`${method} ${new URL(url).search}`);
    return { level: asked.length === 1 ? 'read' : 'none' };
  };
  const site = siteOf(guardOfRuns().guard, { access });
  assert.deepEqual(
    [(await site.get()).status, (await site.get('?locks=all')).status, (await site.post('', {})).status],
    [200, 401, 401],
  );
  assert.deepEqual(asked, ['GET ', 'GET ?locks=all', 'POST ']);
});

/** A job with a failed run, and the addresses of all kinds of pages. */
async function failedJob({ guard, runDaysAgo }: Operated, job: string): Promise<readonly string[]> {
  await register(guard, dailyJob(job), dailyJob('audit'));
  const period = await runDaysAgo(job, 2, new Error('<b>no disk</b>'));
  await guard.lockManager().tryLock({ name: '<i>books', lockAtMostFor: '10m' });
  const name = encodeURIComponent(job);
  return [
    ...['', '?days=365', '?locks=held', '?locks=all', `?lock=${encodeURIComponent('<i>books')}`],
    ...[`?job=${name}`, `?job=${name}&period=${period}`, `?job=${name}&period=2026-01-01`],
    ...['?job=%3Cimg%3E', '?lock=%3Cimg%3E', `?job=${name}&year=%3Cimg%3E`],
  ];
}

testOperated('a reader sees each page without the form of an act, and cannot send one', async (bench) => {
  const { guard } = bench;
  const pages = await failedJob(bench, 'close-day');
  const site = siteOf(guard, { access: () => ({ level: 'read', actor: 'ben' }) });
  for (const page of pages)
    assert.doesNotMatch((await site.get(page)).text, /method="post"|<button|class="act"/, page);
  assert.match((await site.get()).text, /ben may read/);
  const operators = siteOf(guard);
  const fields = fieldsOf((await operators.get('?job=audit')).text, 'pause');
  const refused = await site.post('?job=audit', { ...fields, reason: 'ticket 7' });
  assert.equal(refused.status, 403);
  assert.match(refused.text, /You may read, but not operate\./);
  assert.equal(await guard.locks.inspect('audit'), undefined);
});

testOperated('a form of another site is refused, and changes nothing', async ({ guard }) => {
  const site = siteOf(guard, { origins: [ORIGIN, 'https://proxy.example.com'] });
  await register(guard, dailyJob('audit'));
  const send = (typed: Record<string, string>, headers: Record<string, string>) =>
    site.send('?job=audit', 'pause', typed, headers);
  const { dashboard } = site;
  const page = await site.get('?job=audit');
  const body = new URLSearchParams({ ...fieldsOf(page.text, 'pause'), reason: 'ticket 7' });
  const cookie = page.headers.get('set-cookie') ?? '';
  assert.match(cookie, /^cronlatch_form=[\w-]{22};.*HttpOnly; SameSite=Strict$/);
  const request = (headers: Record<string, string>): Promise<Response> =>
    dashboard(new Request(`${ORIGIN}/?job=audit`, { method: 'POST', body, headers }));
  const refused = [
    await send({}, { Origin: 'https://evil.example.com' }),
    await send({}, { Origin: 'null' }),
    await send({}, { 'Sec-Fetch-Site': 'cross-site' }),
    await send({}, { 'Sec-Fetch-Site': 'same-site' }),
    await send({ token: '' }, {}),
    await send({ token: 'x'.repeat(22) }, {}),
    await send({}, { Cookie: '' }),
    await request({ Cookie: cookie.split(';')[0] ?? '' }),
    await request({ Origin: ORIGIN }),
  ];
  assert.deepEqual(
    refused.map(({ status }) => status),
    refused.map(() => 403),
  );
  assert.equal(await guard.locks.inspect('audit'), undefined);
  assert.equal((await send({}, { Origin: 'https://proxy.example.com' })).status, 303);
  assert.equal((await guard.locks.inspect('audit'))?.isHeld, true);
});

testOperated('every answer forbids other sources, frames, referrers and caches', async (bench) => {
  const pages = await failedJob(bench, 'close-day');
  const site = siteOf(bench.guard);
  const none = siteOf(bench.guard, { access: () => ({ level: 'none' }) });
  const answers = [await none.get(), await site.post('', {}), await site.get('?asset=style')];
  for (const page of pages) answers.push(await site.get(page));
  for (const { headers, text } of answers) {
    const policy = (headers.get('content-security-policy') ?? '').split('; ');
    for (const directive of ["default-src 'none'", "frame-ancestors 'none'"])
      assert.ok(policy.includes(directive), directive);
    assert.doesNotMatch(policy.join(), /unsafe/);
    assert.equal(headers.get('referrer-policy'), 'same-origin');
    assert.equal(headers.get('x-frame-options'), 'DENY');
    assert.equal(headers.get('cache-control'), 'no-store');
    if (headers.get('content-type')?.startsWith('text/html'))
      assert.doesNotMatch(text, /\sstyle=|<style|\son\w+=|<script(?! src="\?asset=script&)/);
  }
});

testOperated('names and errors are escaped on all pages', async (bench) => {
  const pages = await failedJob(bench, '<img src=x onerror=alert(1)>');
  const site = siteOf(bench.guard);
  for (const page of pages) assert.doesNotMatch((await site.get(page)).text, /<img|<b>|<i>/, page);
  const refused = await site.send(pages[6] ?? '', 'rerun', { reason: `"><img src=x>${'x'.repeat(2000)}` });
  assert.equal(refused.status, 422);
  assert.doesNotMatch(refused.text, /<img/);
});

testOperated('an act during a failure of the database is reported as possibly done', async ({ guard }) => {
  const site = siteOf(guard);
  await register(guard, dailyJob('close-day'));
  const lost = new LockStorageError('connection reset', { outcome: 'unknown' });
  callsOf(guard).parts.lockProvider.hold = () => Promise.reject(lost);
  const { status, text } = await site.send('?job=close-day', 'pause');
  assert.equal(status, 503);
  assert.match(text, /Your act may have been done: look before you send it again\./);
});

void test('an error of the database is reported without its message', async () => {
  const { guard, runStore } = guardOfRuns();
  const secret = new LockStorageError('connect to postgres://root:hunter2@db', { outcome: 'nothing-ran' });
  mock.method(runStore, 'latest', () => Promise.reject(secret));
  const { status, text } = await siteOf(guard).get();
  assert.equal(status, 503);
  assert.match(text, /The database did not answer\./);
  assert.doesNotMatch(text, /hunter2|postgres/);
});

testOperated(
  'all times are in one zone: that of the jobs, UTC if theirs differ, or the given one',
  async (bench) => {
    const { guard } = bench;
    const read = async (of?: Partial<DashboardOptions>): Promise<readonly string[]> => {
      const { text } = await siteOf(guard, of).get('?job=close-day');
      const [zone = ''] = /(?<=times in )\S+(?=<)/.exec(text) ?? [];
      const titles = [...text.matchAll(/<time [^>]*title="[^"]*(Z|[+-]\d\d:\d\d)"/g)].map(
        ([, offset = '']) => offset,
      );
      assert.ok(titles.length > 0);
      const [, next = ''] = /Its next tick is (?:on \w+ )?at (\d\d):/.exec(text) ?? [];
      return [zone, ...new Set(titles), next];
    };
    const schedules = [{ expression: '0 12 * * *', timeZone: 'Asia/Tokyo', dialect: 'unix' }] as const;
    await registerEarlier(bench, dailyJob('close-day', { timeZone: 'Asia/Tokyo', schedules }));
    await bench.runDaysAgo('close-day', 0);
    assert.deepEqual(await read(), ['Asia/Tokyo', '+09:00', '12']);
    await registerEarlier(bench, dailyJob('bill', { timeZone: 'UTC' }));
    assert.deepEqual(await read(), ['UTC', 'Z', '03']);
    assert.deepEqual(await read({ timeZone: 'Asia/Kolkata' }), ['Asia/Kolkata', '+05:30', '08']);
  },
);

void test('a page of locks does not wait for the database of the runs', async () => {
  const { guard, runStore } = guardOfRuns();
  await guard.lockManager().tryLock({ name: 'books', lockAtMostFor: '10m' });
  mock.method(runStore, 'jobs', () => new Promise(() => {}));
  const { status, text } = await siteOf(guard).get('?locks=held');
  assert.deepEqual([status, /books/.test(text), /times in UTC/.test(text)], [200, true, true]);
});

testOperated('only operators see logs, and hideResults hides results from them, too', async (bench) => {
  const options = { keepLog: '64 kB', logger: false, pollInterval: false } as const;
  await using guard = closing(await bench.createJobGuard(bench.url, options));
  const oncePer = { period: 'day', timeZone: 'UTC' } as const;
  await guard.run({ name: 'close-day', lockAtMostFor: '10m', oncePer }, () => {
    currentRun().log('secret log');
    return 'secret result';
  });
  const [run] = await guard.ledger.list({ job: 'close-day' });
  const key = { job: 'close-day', periodKey: run?.periodKey ?? '' };
  await eventually(async () => (await guard.ledger.log(key)).length > 0, 'the log');
  const shown = async (of: Partial<DashboardOptions>): Promise<readonly boolean[]> => {
    const { text } = await siteOf(guard, of).get(`?job=close-day&period=${key.periodKey}`);
    return [text.includes('secret result'), text.includes('secret log')];
  };
  assert.deepEqual(await shown({}), [true, true]);
  assert.deepEqual(await shown({ access: () => ({ level: 'read' }) }), [true, false]);
  assert.deepEqual(await shown({ hideResults: true }), [false, false]);
});
