import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { command, type Ended } from '../../support/command';
import { reportSkip } from '../../support/test-on';

const ALERTS = 'docs/monitoring/alerts.yml';
const DASHBOARD = 'docs/monitoring/grafana.json';
const CASES = 'test/faults/monitoring/alerts.test.yml';

interface Servers {
  readonly findPromtool: (options: { log: (line: string) => void }) => Promise<{ readonly file?: string }>;
}

async function promtool(): Promise<string | undefined> {
  const path = resolve('test/support/servers/index.mjs');
  const { findPromtool } = (await import(pathToFileURL(path).href)) as Servers;
  return (await findPromtool({ log: () => {} })).file;
}

/** A test with promtool in an empty folder. Without promtool it is skipped, and the run reports it at its end. */
function testWithPromtool(
  name: string,
  body: (folder: string, run: (...args: string[]) => Promise<Ended>) => Promise<void>,
): void {
  void test(name, async (t) => {
    const file = await promtool();
    if (file === undefined) {
      reportSkip('promtool');
      return t.skip('promtool is missing');
    }
    const folder = mkdtempSync(join(tmpdir(), 'cronlatch-alerts-'));
    try {
      await body(folder, (...args) => command(file, args, folder));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

testWithPromtool('the alerts of the page fire when they must, and only then', async (folder, run) => {
  copyFileSync(ALERTS, join(folder, 'alerts.yml'));
  copyFileSync(CASES, join(folder, 'alerts.test.yml'));
  assert.match((await run('check', 'rules', 'alerts.yml')).stdout, /SUCCESS: 7 rules found/);
  assert.deepEqual(await run('test', 'rules', 'alerts.test.yml'), {
    ...{ status: 0, stdout: 'Unit Testing:  alerts.test.yml\n  SUCCESS\n\n', stderr: '' },
  });
});

testWithPromtool('Prometheus accepts every query of the dashboard', async (folder, run) => {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as {
    readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
  };
  const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const rules = queries.map((expr, index) => ({
    record: `query_${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m'),
  }));
  // JSON is also YAML.
  writeFileSync(join(folder, 'queries.yml'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  const { status, stdout, stderr } = await run('check', 'rules', 'queries.yml');
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, new RegExp(`SUCCESS: ${queries.length} rules found`));
});

void test('each alert has a case in which it fires and one in which it does not', () => {
  const cases = readFileSync(CASES, 'utf8');
  for (const [, name = ''] of readFileSync(ALERTS, 'utf8').matchAll(/- alert: (\w+)/g)) {
    assert.match(cases, new RegExp(`alertname: ${name}\n *exp_alerts:\n *- exp_labels`), `${name} fires`);
    assert.match(cases, new RegExp(`alertname: ${name}\n *exp_alerts: \\[\\]`), `${name} is silent`);
  }
});
