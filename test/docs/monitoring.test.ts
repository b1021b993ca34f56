import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { DeclaredJob } from 'cronlatch/provider';
import { Registry } from 'prom-client';
import { nextEvent, reasonOf } from '../support/benches/guard';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';
import { JOB } from '../support/benches/lock';
import { createdInstruments, prometheusNames } from '../support/checks/instruments';
import { tableOf } from '../support/checks/page';
import { testCodeOn } from '../support/checks/page-tests';
import { scrapesOfPage } from '../support/checks/scrapes';
import { sendHeartbeats } from './monitoring/heartbeats';
import { toMail, toSlack } from './monitoring/notices';
import { measureJobs } from './monitoring/prom-client';

const PAGE = 'docs/monitoring.md';
const ALERTS = readFileSync('docs/monitoring/alerts.yml', 'utf8');
const DASHBOARD = readFileSync('docs/monitoring/grafana.json', 'utf8');
const LABELS = ['cronlatch_job', 'outcome', 'reason', 'error_type', 'instance', 'le'];

testCodeOn(PAGE, 'test/docs/monitoring');

const instruments = createdInstruments();
const names = new Set(instruments.flatMap(prometheusNames).flatMap((name) => [name, withoutUnit(name)]));
const failing = () => Promise.reject(new Error('mine'));

void test('the page lists every metric with its type and unit', () => {
  assert.deepEqual(
    tableOf(PAGE, 'metric').map(([name, kind, unit]) => [name, kind, unit].join(' ')),
    instruments.map(({ name, kind, unit }) => `\`${name}\` ${kind} \`${unit}\``).sort(inOrderOf(PAGE)),
  );
});

/** Both lists in the order in which the names appear on the page. */
function inOrderOf(page: string): (a: string, b: string) => number {
  const text = readFileSync(page, 'utf8');
  const at = (line: string): number => text.indexOf(`| ${line.split(' ')[0] ?? ''}`);
  return (a, b) => at(a) - at(b);
}

for (const [what, text] of [
  ['the alerts use', ALERTS],
  ['the dashboard uses', DASHBOARD],
] as const) {
  void test(`${what} only metrics that cronlatch has, and their labels`, () => {
    const used = new Set([...text.matchAll(/cronlatch_[a-z_]+/g)].map(([name]) => name));
    used.delete('cronlatch_job');
    assert.ok(used.size >= 6);
    assert.deepEqual(
      [...used].filter((name) => !names.has(name)),
      [],
    );
    const grouped = [...text.matchAll(/by \(([a-z_, ]+)\)/g)].flatMap(([, list = '']) => list.split(', '));
    const matched = [...text.matchAll(/[{,] ?([a-z_]+)=~?\\?"/g)].map(([, label = '']) => label);
    assert.ok(grouped.length > 3 && matched.length > 0);
    assert.deepEqual(
      [...grouped, ...matched].filter((label) => !LABELS.includes(label)),
      [],
    );
  });
}

void test('the dashboard is valid JSON whose panels have a query, a unit and a place each', () => {
  const { panels, templating } = JSON.parse(DASHBOARD) as {
    panels: {
      id: number;
      title: string;
      gridPos: { x: number; w: number };
      targets: { expr: string }[];
      fieldConfig: { defaults: { unit: string } };
    }[];
    templating: { list: { name: string }[] };
  };
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const { title, targets, gridPos, fieldConfig } of panels) {
    assert.ok(targets.every(({ expr }) => expr.includes('cronlatch_')) && targets.length > 0, title);
    assert.ok(gridPos.x + gridPos.w <= 24 && fieldConfig.defaults.unit !== '', title);
  }
  const variables = templating.list.map(({ name }) => name);
  for (const [, name = ''] of DASHBOARD.matchAll(/\$\{?([a-z]+)/g)) assert.ok(variables.includes(name), name);
  const used = [...names].filter((name) => !DASHBOARD.includes(name) && !/_sum$/.test(name));
  assert.deepEqual(used, [], 'each metric is on the dashboard');
});

void test('the page lists every alert', () => {
  assert.deepEqual(
    tableOf(PAGE, 'alert').map(([name]) => name),
    [...ALERTS.matchAll(/- alert: (\w+)/g)].map(([, name]) => `\`${name}\``),
  );
});

/** The file for prom-client does not measure these, and counts errors without their types. */
const NOT_IN_PROM_CLIENT = ['cronlatch_clock_offset', 'cronlatch_run_active', 'error_type'];

void test('each exporter of the page serves what the alerts and the dashboard use, and nothing else', async (t) => {
  const { inTrouble } = await scrapesOfPage(t);
  const used = new Set(wordsIn(`${ALERTS}${DASHBOARD}`, /\b(cronlatch_[a-z_]+)/g));
  for (const label of LABELS) used.add(label);
  used.delete('instance'); // Prometheus adds it.
  for (const [exporter, text] of Object.entries(inTrouble)) {
    const series = wordsIn(text, /^(cronlatch_\S+)/gm);
    const served = series.flatMap((line) => wordsIn(line, /(?:^|[{,])(\w+)/g));
    const measured = [...new Set(served)].filter((name) => !/_sum$|^otel_scope/.test(name));
    assert.deepEqual(
      measured.filter((name) => !used.has(name)),
      [],
      exporter,
    );
    const missing = [...used].filter((name) => !measured.map(withoutUnit).includes(withoutUnit(name)));
    const expected = exporter === 'OpenTelemetry' ? [] : NOT_IN_PROM_CLIENT;
    assert.deepEqual([...new Set(missing.map(withoutUnit))].sort(), [...expected].sort(), exporter);
  }
});

/** An exporter appends the unit or not. */
function withoutUnit(name: string): string {
  return name.replace(/_seconds(?=_|$)/, '');
}

function wordsIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, word = '']) => word);
}

void test('the metrics of prom-client have the names and labels of the alerts, and count the same', async () => {
  const { guard, clock, other } = guardOfRuns();
  const registry = new Registry();
  measureJobs(guard, registry);
  await guard.run(JOB, () => void clock.advance('2s'));
  await reasonOf(guard.run(DAILY, failing));
  await other.lock(JOB);
  await guard.run(JOB, () => assert.fail('ran'));
  const text = await registry.metrics();
  for (const line of [
    'cronlatch_run_duration_seconds_bucket{le="1",cronlatch_job="job",outcome="completed"} 0',
    'cronlatch_run_duration_seconds_bucket{le="5",cronlatch_job="job",outcome="completed"} 1',
    'cronlatch_run_duration_seconds_count{cronlatch_job="close-day",outcome="failed"} 1',
    'cronlatch_run_failures_total{cronlatch_job="close-day",outcome="will-retry"} 1',
    'cronlatch_run_skips_total{cronlatch_job="job",reason="locked"} 1',
  ])
    assert.ok(text.split('\n').includes(line), `${line}\nis missing in\n${text}`);
  for (const [, name = ''] of text.matchAll(/^(cronlatch_\w+)/gm)) assert.ok(names.has(name), name);
});

void test('a late job is a metric of prom-client, and a ledger that fails does not break the scrape', async (t) => {
  const { guard, clock, runStore } = guardOfRuns();
  const registry = new Registry();
  measureJobs(guard, registry);
  const at = new Date(clock.wallMs() + 1).toISOString();
  const declared: DeclaredJob = {
    ...{ lock: 'close-day', lockAtMostForMs: 600_000, lockAtLeastForMs: 0, keepAlive: false },
    ...({ kind: 'day', timeZone: 'UTC' } as const),
    ...{ schedules: [{ at }], hasCalendar: false, hasScopeFunction: false },
  };
  const registered = { declared, version: '0.1.0', registeredBy: 'host/1' };
  await runStore.registerJobs([{ job: 'close-day', ...registered }]);
  assert.doesNotMatch(await registry.metrics(), /^cronlatch_job_late/m);
  clock.advance('6m');
  assert.match(await registry.metrics(), /^cronlatch_job_late\{cronlatch_job="close-day"\} 1$/m);
  assert.match(await registry.metrics(), /^cronlatch_store_reachable 1$/m);
  const down = () => Promise.reject(new Error('the database is down'));
  t.mock.method(runStore, 'jobs', down);
  t.mock.method(guard, 'probe', down);
  const text = await registry.metrics();
  assert.match(text, /^cronlatch_job_late\{cronlatch_job="close-day"\} 1$/m);
  assert.match(text, /^cronlatch_store_reachable 0$/m);
});

/** A monitor on this machine, and the requests that it has got. */
async function monitorOf(t: TestContext, status = 200) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.writeHead(status).end('OK');
    server.emit('answered');
  }).listen(0);
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://localhost:${(server.address() as AddressInfo).port}/ping/secret`;
  return { requests, url, answered: () => once(server, 'answered') };
}

void test('a heartbeat is sent for a completed run, and for a failed one only if no retry follows', async (t) => {
  const { guard, clock } = guardOfRuns();
  const { requests, url, answered } = await monitorOf(t);
  sendHeartbeats(guard, { 'close-day': { completed: url, failed: `${url}/fail` } });
  const job = { ...DAILY, oncePer: { ...DAILY.oncePer, retry: { maxAttempts: 2 } } } as const;
  await guard.run(JOB, () => {}); // Has no monitor.
  await reasonOf(guard.run(job, failing));
  clock.advance('10m');
  const failed = answered();
  await reasonOf(guard.run(job, failing));
  await failed;
  clock.advance('1d');
  const completed = answered();
  await guard.run(job, () => {});
  await completed;
  assert.deepEqual(requests, ['POST /ping/secret/fail', 'POST /ping/secret']);
});

void test('a monitor that refuses a heartbeat is a warning without its address, and the run has completed', async (t) => {
  const { guard } = guardOfRuns();
  const { url } = await monitorOf(t, 404);
  sendHeartbeats(guard, { job: { completed: url, failed: url } });
  const warned = nextEvent(guard, 'guard:warning');
  assert.deepEqual(await guard.run(JOB, () => 7), { executed: true, value: 7 });
  const { message, error } = await warned;
  assert.equal(message, "A listener of 'run:completed' failed.");
  assert.equal((error as Error).message, "The monitor of job 'job' answered with the status 404.");
});

void test('the functions for Slack and mail send the text and the id of a notice', async (t) => {
  const { url, requests, answered } = await monitorOf(t);
  const mails: object[] = [];
  const mailer = { sendMail: (mail: object) => Promise.resolve(mails.push(mail)) };
  const { guard } = guardOfRuns({ notify: [toSlack(url), toMail(mailer, 'ops@example.com')] });
  const posted = answered();
  const job = { ...DAILY, oncePer: { ...DAILY.oncePer, retry: { maxAttempts: 1 } } } as const;
  await reasonOf(guard.run(job, failing));
  await posted;
  await guard.runOverdue();
  assert.deepEqual(requests, ['POST /ping/secret']);
  const [mail] = mails as [{ subject: string; text: string; messageId: string }];
  assert.equal(mail.subject, 'close-day: failed');
  assert.match(mail.text, /\ncronlatch rerun close-day \S+ --reason TEXT$/);
  assert.match(mail.messageId, /^<[\w-]{43}@cronlatch>$/);
});
