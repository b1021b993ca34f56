import assert from 'node:assert/strict';
import { request } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { createTables } from 'cronlatch/better-sqlite3';
import { closing } from '../support/benches/closing';
import { testWithFakedClock } from '../support/clocks/faked';
import { sqliteDatabase } from '../support/databases/fresh';
import { started, type Started } from './started';
import { testOperated } from './operated';

async function get(address: string, headers: OutgoingHttpHeaders = {}) {
  const [response] = (await once(request(address, { headers }).end(), 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
}

async function addressOf(call: Started): Promise<string> {
  await call.printed('Ctrl-C ends the dashboard.');
  return /http:\S+/.exec(call.output())?.[0] ?? '';
}

testOperated('cronlatch dashboard lets one browser in, and ends with Ctrl-C', async ({ url }) => {
  const call = started(['dashboard', '--actor', 'anne'], { DATABASE_URL: url });
  const address = await addressOf(call);
  const { origin, port } = new URL(address);
  assert.equal((await get(origin)).status, 401);
  assert.equal((await get(`${origin}/?token=guess`)).status, 401);
  assert.equal((await get(address, { Host: `ops.example.com:${port}` })).status, 403);

  const entered = await get(address);
  const { status, headers } = entered;
  const place = headers.location ?? '';
  assert.deepEqual([status, /^\/[\w-]{32}\/$/.test(place)], [303, true]);
  const [cookie = ''] = headers['set-cookie'] ?? [];
  assert.match(
    cookie,
    new RegExp(`^cronlatch_session=[\\w-]{32}; Path=${place}; HttpOnly; SameSite=Strict$`),
  );
  const session = { Cookie: `other=1; ${cookie.split(';')[0]}` };
  const page = await get(`${origin}${place}`, session);
  assert.equal(page.status, 200);
  assert.match(page.text, /anne may operate/);
  // Another server of this host can get the cookie of the path /, but does not know this path.
  for (const elsewhere of ['/', `${place}other`, '/jobs'])
    assert.equal((await get(`${origin}${elsewhere}`, session)).status, 401, elsewhere);
  assert.equal((await get(`${origin}${place}`)).status, 401);
  assert.equal((await get(`${origin}${place}`, { ...session, Host: 'localhost' })).status, 403);
  assert.equal((await get(`${origin}${place}`, { ...session, Host: `localhost:${port}` })).status, 200);

  const again = await get(address);
  assert.equal(again.status, 401);
  assert.match(again.text, /This address has been used, or is too old\./);
  assert.equal(again.headers['set-cookie'], undefined);

  call.kill('SIGINT');
  assert.deepEqual((await call.ended).status, 0);
});

testOperated(
  'cronlatch dashboard reports a database that it cannot use before it prints an address',
  async ({ url }) => {
    const wrong = new URL(url);
    wrong.password = 'wrong';
    const call = started(['dashboard'], { DATABASE_URL: wrong.href });
    const { status } = await call.ended;
    assert.equal(status, 1);
    assert.doesNotMatch(call.output(), /http:/);
  },
  ['mysql'],
);

for (const { after, status } of [
  { after: '290s', status: 303 },
  { after: '300s', status: 401 },
])
  testWithFakedClock(
    `cronlatch dashboard answers its address with ${status} after ${after}`,
    async (clock) => {
      await using database = closing(sqliteDatabase());
      const url = `sqlite:${database.environment['DATABASE_FILE']}`;
      await createTables(url);
      const call = started(['dashboard'], { DATABASE_URL: url, ...clock.environmentOfAll });
      const address = await addressOf(call);

      clock.set(`+${after}`);

      assert.equal((await get(address)).status, status);
      call.kill('SIGINT');
      assert.deepEqual((await call.ended).status, 0);
    },
  );
