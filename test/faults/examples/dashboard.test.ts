import assert from 'node:assert/strict';
import { exampleStarter } from '../../examples/running-example';
import { testWith } from '../../support/databases/fresh';

/** Logs in as the line that the example has printed describes. */
const LOGINS: Readonly<Record<string, (line: string) => Promise<[header: string, value: string]>>> = {
  'dashboard-express': (line) => {
    const [, password = ''] = /password (\S+)/.exec(line) ?? [];
    return Promise.resolve(['authorization', `Basic ${Buffer.from(`anne:${password}`).toString('base64')}`]);
  },
  'dashboard-nestjs': async (line) => {
    const response = await fetch(/http\S+/.exec(line)?.[0] ?? '', { redirect: 'manual' });
    return ['cookie', response.headers.get('set-cookie')?.split(';')[0] ?? ''];
  },
};

for (const [name, login] of Object.entries(LOGINS))
  testWith('sqlite', `${name}: the dashboard is closed until the operator logs in`, async (database, t) => {
    const environment = { ...database.environment, PORT: '0' };
    const example = exampleStarter(name, t, { ...database, environment })();
    await example.prints();
    const line = example.lines.find((each) => each.startsWith('dashboard: ')) ?? '';
    const address = `${/http:\/\/[\d.]+:\d+/.exec(line)?.[0]}/jobs`;
    const [header, value] = await login(line);

    assert.equal((await fetch(address)).status, 401);
    assert.equal((await fetch(address, { headers: { [header]: `${value}x` } })).status, 401);
    const response = await fetch(address, { headers: { [header]: value } });
    const page = await response.text();

    assert.equal(response.status, 200);
    assert.match(page, /anne may operate/);
    assert.match(page, /close-day/);
    assert.equal(await example.stop(), '');
  });
