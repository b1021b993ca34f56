import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { testOperated } from '../cli/operated';
import { dailyJob, fillYear, register } from '../cli/year-of-runs';
import { closing } from '../support/benches/closing';
import { guardOfRuns } from '../support/benches/guard-of-runs';
import { statementLog } from '../support/databases/statement-log';
import { ORIGIN, siteOf } from './site';

/** What a connection and its first statement need. */
const SET_UP = /^SELECT 1$|^\s*SELECT 0 AS table_number/;

testOperated(
  'an overview sends 5 statements, shares them for 5 s, and an act ends that',
  async (bench) => {
    await using log = closing(await statementLog('postgres', bench));
    const options = { logger: false, pollInterval: false } as const;
    await using guard = closing(await bench.createJobGuard(log.url, options));
    const site = siteOf(guard);
    await register(guard, dailyJob('close-day'));
    await bench.runDaysAgo('close-day', 1);
    const now = mock.method(performance, 'now', () => 0);
    try {
      const countAt = async (ms: number): Promise<number> => {
        now.mock.mockImplementation(() => ms);
        log.statements();
        assert.equal((await site.get()).status, 200);
        return log.statements().filter((text) => !SET_UP.test(text)).length;
      };
      const counts = [await countAt(0), await countAt(4999), await countAt(5000), await countAt(5000)];
      assert.equal((await site.send('?job=close-day', 'pause')).status, 303);
      assert.deepEqual([...counts, await countAt(5000)], [5, 0, 5, 0, 5]);
    } finally {
      now.mock.restore();
    }
  },
  ['postgres'],
);

testOperated(
  'a job keeps its own days if the order of the jobs has changed since the days were read',
  async (bench) => {
    const site = siteOf(bench.guard);
    await register(bench.guard, dailyJob('audit'), dailyJob('bill'));
    for (const [job, days] of [
      ['audit', 2],
      ['audit', 1],
      ['bill', 1],
    ] as const)
      await bench.runDaysAgo(job, days);
    const now = mock.method(performance, 'now', () => 0);
    try {
      await site.get('?days=90');
      now.mock.mockImplementation(() => 4900);
      await site.get();
      await bench.runDaysAgo('bill', 0, new Error('no bank'));
      now.mock.mockImplementation(() => 5100);
      const { text } = await site.get();
      const rows = [...text.matchAll(/<th scope="row">\s*<a [^>]*>(\w+)<[^]*?<\/tr>/g)];
      const shown = rows.map(([row, job]) => [job, row.match(/aria-label=/g)?.length]);
      assert.deepEqual(shown, [
        ['bill', 1],
        ['audit', 2],
      ]);
    } finally {
      now.mock.restore();
    }
  },
);

testOperated(
  'the first page of 200 jobs has all their days, in 80 kB compressed for 30 days, and 60 kB for 90 and 365',
  async (bench) => {
    await fillYear(bench, { jobs: 200 });
    for (const [days, mostKb] of [
      [30, 80],
      [90, 60],
      [365, 60],
    ] as const) {
      const { text } = await siteOf(bench.guard).get(`?days=${days}`);
      const cells = text.match(/job-\d+ \d{4}-\d\d-\d\d completed/g) ?? [];
      const pictures = text.match(new RegExp(`aria-label="completed ${days}"`, 'g')) ?? [];
      assert.equal(days === 30 ? new Set(cells).size : pictures.length, days === 30 ? 200 * days : 200);
      assert.ok(gzipSync(text).length < mostKb * 1000);
    }
  },
  ['sqlite', 'postgres'],
);

testOperated('a long log shows its end, also if it is one entry', async ({ guard, query, runDaysAgo }) => {
  await register(guard, dailyJob('close-day'));
  const period = await runDaysAgo('close-day', 1);
  const shown = async (...all: readonly string[]): Promise<readonly (number | boolean)[]> => {
    await query('DELETE FROM cronlatch_run_log');
    for (const lines of all)
      await query(`INSERT INTO cronlatch_run_log (run_id, generation, attempt, at, lines)
                   SELECT id, 0, 1, 0, '${lines}' FROM cronlatch_run`);
    const { text } = await siteOf(guard).get(`?job=close-day&period=${period}`);
    const [, log = ''] = /<pre class="log" [^>]*aria-label="Log">([^]*?)<\/pre>/.exec(text) ?? [];
    const counts = ['#', '~'].map((character) => log.split(character).length - 1);
    return [...counts, text.includes('The beginning is left out.')];
  };
  const end = '~'.repeat(150_000);
  assert.deepEqual(await shown('#'.repeat(50_000), end), [50_000, 150_000, false]);
  assert.deepEqual(await shown('#'.repeat(50_001), end), [50_000, 150_000, true]);
  assert.deepEqual(await shown('#'.repeat(60_000) + end), [50_000, 150_000, true]);
});

void test('a page of held locks does not claim that no other lock is free', async () => {
  const { guard } = guardOfRuns();
  const summaryOf = async (query: string): Promise<string | undefined> =>
    /<summary>\s*(No lock .+?)\s*<\/summary>/.exec((await siteOf(guard).get(query)).text)?.[1];
  for (let number = 100; number < 200; number++)
    await guard.lockManager().tryLock({ name: `${number}`, lockAtMostFor: '10m' });
  assert.equal(await summaryOf('?locks=all'), 'No lock is free');
  await guard.lockManager().tryLock({ name: '200', lockAtMostFor: '10m' });
  for (const query of ['?locks=held', '?locks=all', '?locks=all&after=199'])
    assert.equal(await summaryOf(query), 'No lock on this page is free');
});

void test('a page that has not changed is not sent again', async () => {
  const { guard } = guardOfRuns();
  const { dashboard } = siteOf(guard);
  const get = (headers: Record<string, string> = {}): Promise<Response> =>
    dashboard(new Request(`${ORIGIN}/?locks=all`, { headers }));
  const first = await get({ Cookie: `cronlatch_form=${'x'.repeat(22)}` });
  const headers = {
    'If-None-Match': first.headers.get('etag') ?? '',
    Cookie: `cronlatch_form=${'x'.repeat(22)}`,
  };
  const now = mock.method(performance, 'now', () => Infinity);
  try {
    assert.deepEqual(
      [(await get(headers)).status, (await get(headers)).headers.get('cache-control')],
      [304, 'no-store'],
    );
    await guard.lockManager().tryLock({ name: 'books', lockAtMostFor: '10m' });
    assert.equal((await get(headers)).status, 200);
  } finally {
    now.mock.restore();
  }
});
