import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { tableOf } from '../../support/checks/page';
import { scrapesOfPage, type Scrapes } from '../../support/checks/scrapes';
import { command, type Ended } from '../../support/processes/command';
import { reportSkip } from '../../support/servers/test-on';

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
  body: (folder: string, run: (...args: string[]) => Promise<Ended>, t: TestContext) => Promise<void>,
): void {
  void test(name, async (t) => {
    const file = await promtool();
    if (file === undefined) {
      reportSkip('promtool');
      return t.skip('promtool is missing');
    }
    const folder = mkdtempSync(join(tmpdir(), 'cronlatch-alerts-'));
    try {
      await body(folder, (...args) => command(file, args, folder), t);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

testWithPromtool('the alerts of the page fire when they must, and only then', async (folder, run) => {
  copyFileSync(ALERTS, join(folder, 'alerts.yml'));
  copyFileSync(CASES, join(folder, 'alerts.test.yml'));
  assert.match((await run('check', 'rules', 'alerts.yml')).stdout, /SUCCESS: 8 rules found/);
  assert.deepEqual(await run('test', 'rules', 'alerts.test.yml'), {
    ...{ status: 0, stdout: 'Unit Testing:  alerts.test.yml\n  SUCCESS\n\n', stderr: '' },
  });
});

/** The file for prom-client does not measure these. */
const ONLY_OPEN_TELEMETRY = ['CronlatchClockOffset', 'Largest clock offset', 'Clock offset', 'Running now'];

testWithPromtool('with each exporter, every alert fires and every panel has data', async (folder, run, t) => {
  copyFileSync(ALERTS, join(folder, 'alerts.yml'));
  const scrapes = await scrapesOfPage(t);
  const atMs = Date.now();
  const alerts = tableOf('docs/monitoring.md', 'alert').map(([name = '']) => name.slice(1, -1));
  const tests = (['OpenTelemetry', 'prom-client'] as const).flatMap((exporter) => {
    const isMeasured = (name: string) => exporter === 'OpenTelemetry' || !ONLY_OPEN_TELEMETRY.includes(name);
    const testOf = (when: keyof typeof scrapes, queries: readonly Query[]) => ({
      name: `${exporter}, ${when}`,
      interval: '1m',
      input_series: seriesOf(scrapes[when][exporter], atMs),
      promql_expr_test: queries.map((query) => ({ eval_time: '15m', ...query })),
    });
    const firing = alerts
      .filter(isMeasured)
      .map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 }));
    const panels = queriesOfDashboard().filter(({ title }) => isMeasured(title));
    return [
      testOf('well', [{ expr: FIRING, exp_samples: [] }]),
      testOf('inTrouble', [
        { expr: FIRING, exp_samples: firing },
        ...panels.map(({ expr }) => ({ expr: `group(${expr})`, exp_samples: [{ labels: '{}', value: 1 }] })),
      ]),
    ];
  });
  // JSON is also YAML.
  const file = { rule_files: ['alerts.yml'], evaluation_interval: '1m', tests };
  writeFileSync(join(folder, 'scrapes.yml'), JSON.stringify(file));
  const { status, stdout, stderr } = await run('test', 'rules', 'scrapes.yml');
  assert.equal(`${stdout}${stderr}`.trim(), 'Unit Testing:  scrapes.yml\n  SUCCESS');
  assert.equal(status, 0);
});

const FIRING = 'group by (alertname) (ALERTS{alertstate="firing"})';

interface Query {
  readonly expr: string;
  readonly exp_samples: readonly { readonly labels: string; readonly value: number }[];
}

/** The series of a scrape, each with one value from the time 0 on, which stands for the time of the scrape. */
function seriesOf(scrape: Scrapes[keyof Scrapes], atMs: number): { series: string; values: string }[] {
  return [...scrape.matchAll(/^(cronlatch_\w+)(?:\{(.*)\})? (\S+)$/gm)].map(
    ([, name = '', labels = '', text = '']) => {
      const value = name.includes('last_completed') ? Number(text) - atMs / 1000 : Number(text);
      return { series: `${name}{${[labels, 'instance="a"'].filter(Boolean).join()}}`, values: `${value}x20` };
    },
  );
}

function queriesOfDashboard(): { readonly title: string; readonly expr: string }[] {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as {
    readonly panels: readonly {
      readonly title: string;
      readonly targets: readonly { readonly expr: string }[];
    }[];
  };
  return panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({
      title,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', '.*'),
    })),
  );
}

void test('each alert has a case in which it fires and one in which it does not', () => {
  const cases = readFileSync(CASES, 'utf8');
  for (const [, name = ''] of readFileSync(ALERTS, 'utf8').matchAll(/- alert: (\w+)/g)) {
    assert.match(cases, new RegExp(`alertname: ${name}\n *exp_alerts:\n *- exp_labels`), `${name} fires`);
    assert.match(cases, new RegExp(`alertname: ${name}\n *exp_alerts: \\[\\]`), `${name} is silent`);
  }
});
