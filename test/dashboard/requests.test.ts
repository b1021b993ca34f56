/** What a request costs that may not do what it asks for, and what hostile ones get. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createDashboard, toNodeHandler, type Access, type Dashboard } from 'cronlatch/dashboard';
import { InvalidLockConfigurationError, type JobGuard } from 'cronlatch';
import { testOperated } from '../cli/operated';
import { dailyJob, register } from '../cli/year-of-runs';
import { closing } from '../support/benches/closing';
import { DASHBOARD_SERVERS } from '../support/benches/dashboard-servers';
import { guardOfRuns } from '../support/benches/guard-of-runs';
import { ANNE, fieldsOf, siteOf } from './site';
import { lastAct } from '../support/jobs/acts';

const BEN = { level: 'read', actor: 'ben' } as const;

/** Sends a form in chunks, as long as the server takes them. */
async function post(port: number, body: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const sent = request({
    ...{ port, host: '127.0.0.1', method: 'POST', path: '/ops', agent: false },
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
  });
  sent.on('error', () => {}); // The server may close the connection before it has read everything.
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  sent.end(body);
  const [response] = await answered;
  response.resume();
  return response.statusCode ?? 0;
}

for (const [name, serve] of Object.entries(DASHBOARD_SERVERS))
  testOperated(
    `${name}: a long form is refused before it is read`,
    async ({ guard }) => {
      let access: Access = ANNE;
      await using server = closing(await serve(createDashboard({ guard, access: () => access })));
      const origin = `http://127.0.0.1:${server.port}`;
      const own = { Origin: origin, 'Sec-Fetch-Site': 'same-origin' };
      const foreign = { Origin: 'https://evil.example.com', 'Sec-Fetch-Site': 'cross-site' };
      // A parser of the application has its own limits. It lets this one through.
      const long = /parser|read the form|NestJS/.test(name)
        ? `a=${'1'.repeat(80_000)}`
        : 'a=1&'.repeat(2_000_000);
      const answers: number[] = [];
      for (const each of [ANNE, BEN])
        for (const headers of [foreign, own]) {
          access = each;
          answers.push(await post(server.port, long, headers));
          answers.push(await post(server.port, long, { ...headers, 'Transfer-Encoding': 'chunked' }));
        }
      assert.deepEqual(answers, [403, 403, 413, 413, 403, 403, 403, 403]);
    },
    ['postgres'],
  );

testOperated(
  'HTTP/2 shows the pages and takes forms',
  async ({ guard }) => {
    await register(guard, dailyJob('close-day'));
    const server = createHttp2Server(toNodeHandler(createDashboard({ guard, access: () => ANNE })) as never);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const session = connectHttp2(origin);
    const send = async (headers: Record<string, string>, body?: string) => {
      const stream = session.request(headers);
      stream.end(body);
      const [answer] = (await once(stream, 'response')) as [Record<string, string>];
      let text = '';
      for await (const chunk of stream.setEncoding('utf8')) text += chunk as string;
      return { status: answer[':status'] as unknown, cookie: [answer['set-cookie']].flat()[0] ?? '', text };
    };
    try {
      const page = await send({ ':path': '/?job=close-day' });
      assert.equal(page.status, 200);
      const fields = { ...fieldsOf(page.text, 'run'), reason: 'ticket 7' };
      const headers = { origin, cookie: page.cookie.split(';')[0] ?? '' };
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      const form = { ':method': 'POST', ':path': '/?job=close-day', ...headers, ...type };
      assert.equal((await send(form, new URLSearchParams(fields).toString())).status, 303);
      assert.equal((await lastAct(guard, 'close-day'))?.reason, 'ticket 7');
    } finally {
      session.destroy();
      server.close();
    }
  },
  ['postgres'],
);

void test('an answer that cannot be written ends its stream, and not the process', async () => {
  // HTTP/2 has no such header.
  const dashboard: Dashboard = () =>
    Promise.resolve(new Response('page', { headers: { 'Transfer-Encoding': 'chunked' } }));
  const server = createHttp2Server(toNodeHandler(dashboard) as never);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    const warned = once(process, 'warning') as Promise<[Error]>;
    const stream = session.request({ ':path': '/' });
    await once(stream.resume(), 'close').catch(() => {});
    const [{ message }] = await warned;
    assert.match(message, /^An answer of the dashboard could not be written: /);
  } finally {
    session.destroy();
    server.close();
  }
});

void test('the globals of the application stay its own', () => {
  const before = [Request, Response];
  toNodeHandler(createDashboard({ guard: guardOfRuns().guard, access: () => ANNE }));
  assert.deepEqual([Request, Response], before);
});

testOperated('what was done is reported once, and no link can claim it', async ({ guard }) => {
  await register(guard, dailyJob('close-day'));
  const site = siteOf(guard);
  assert.doesNotMatch((await site.get('?job=close-day&done=pause')).text, /Paused:/);
  const { headers } = await site.send('?job=close-day', 'pause');
  assert.equal(headers.get('location'), '?job=close-day#main');
  assert.match((await site.get('?job=close-day')).text, /role="status">Paused: no instance starts the job\./);
  assert.doesNotMatch((await site.get('?job=close-day')).text, /Paused: no instance/);
});

testOperated('characters that change or hide a text are shown as codes', async ({ guard }) => {
  const name = 'pay\u202eroll\u200b\u{e0041}';
  await register(guard, dailyJob(name));
  const site = siteOf(guard);
  for (const page of ['', `?job=${encodeURIComponent(name)}`]) {
    const { text } = await site.get(page);
    assert.match(text, /pay\\u202eroll\\u200b\\udb40\\udc41/, page);
    const shown = text.replaceAll(/<[^>]*>/g, '');
    assert.doesNotMatch(shown, /[\u202e\u200b\u{e0041}]/u, page);
  }
  assert.equal((await site.send(`?job=${encodeURIComponent(name)}`, 'pause')).status, 303);
  assert.equal((await guard.locks.inspect(name))?.isHeld, true);
});

for (const [options, culprit] of [
  [{ hideResult: true }, /^Unknown option 'hideResult' for createDashboard\. Did you mean 'hideResults'\?/],
  [{ readOnly: true }, /^Unknown option 'readOnly' for createDashboard\./],
  [{ timeZone: 'Paris' }, /^timeZone of createDashboard is .*Paris/],
  [{ timeZone: 1 }, /^timeZone of createDashboard is /],
  [{ hideResults: 'yes' }, /^hideResults of createDashboard is "yes": /],
  [{ origins: 'https://ops.example.com' }, /^origins of createDashboard is "https:/],
  [{ origins: ['ops.example.com'] }, /^origins of createDashboard is "ops\.example\.com": /],
  [{ origins: ['https://ops.example.com/jobs'] }, /^origins of createDashboard is "https:.*: /],
] as const)
  void test(`a dashboard with ${JSON.stringify(options)} is refused`, () => {
    const { guard } = guardOfRuns();
    const all: { guard: JobGuard; access: () => Access } = { guard, access: () => ANNE, ...options };
    assert.throws(
      () => createDashboard(all),
      (error) => error instanceof InvalidLockConfigurationError && culprit.test(error.message),
    );
  });

testOperated('with origins, no other host is answered', async ({ guard }) => {
  await register(guard, dailyJob('audit'));
  const dashboard = createDashboard({ guard, access: () => ANNE, origins: ['https://ops.example.com'] });
  const statusOf = async (host: string) => (await dashboard(new Request(`http://${host}/jobs`))).status;
  assert.deepEqual([await statusOf('ops.example.com'), await statusOf('rebound.example.com')], [200, 403]);
  const answer = await dashboard(new Request('http://rebound.example.com/jobs'));
  assert.match(await answer.text(), /does not answer to rebound\.example\.com\. .*origins/);
});
