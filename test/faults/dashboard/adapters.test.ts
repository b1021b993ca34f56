import assert from 'node:assert/strict';
import { createDashboard } from 'cronlatch/dashboard';
import { testOperated } from '../../cli/operated';
import { dailyJob, register } from '../../cli/year-of-runs';
import { ANNE, fieldsOf } from '../../dashboard/site';
import { closing } from '../../support/benches/closing';
import { DASHBOARD_SERVERS } from '../../support/benches/dashboard-servers';
import { lastAct } from '../../support/jobs/acts';

for (const [name, open] of Object.entries(DASHBOARD_SERVERS))
  testOperated(`${name} shows the dashboard below a path and takes a form`, async ({ guard }) => {
    await register(guard, dailyJob('close-day'));
    await using server = closing(await open(createDashboard({ guard, access: () => ANNE })));
    const origin = `http://127.0.0.1:${server.port}`;
    const overview = await fetch(`${origin}/ops`);
    assert.match(await overview.text(), /<a href="\?job=close-day">close-day<\/a>/);

    const page = await fetch(`${origin}/ops?job=close-day`);
    const fields = { ...fieldsOf(await page.text(), 'run'), reason: 'ticket 7 & ünï+ more' };
    const cookie = page.headers.get('set-cookie')?.split(';')[0] ?? '';
    const init = { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' } as const;
    const done = await fetch(page.url, { ...init, headers: { Cookie: cookie, Origin: origin } });
    assert.deepEqual([done.status, done.headers.get('location')], [303, '?job=close-day#main']);
    assert.equal((await lastAct(guard, 'close-day'))?.reason, fields.reason);
  });
