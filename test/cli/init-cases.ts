import assert from 'node:assert/strict';
import { closing } from '../support/benches/closing';
import { testDrivers, type DriverBench } from '../support/benches/driver';
import type { DatabaseName } from '../support/databases/fresh';
import { cronlatch, errorLines } from './cronlatch';

const LEDGER = [
  ...['cronlatch_run', 'cronlatch_run_event', 'cronlatch_job', 'cronlatch_run_act'],
  ...['cronlatch_run_notice', 'cronlatch_run_log'],
];
const ALL = ['shedlock', ...LEDGER];
const WITH_ONE_COLUMN = 'CREATE TABLE shedlock (name VARCHAR(64) NOT NULL PRIMARY KEY)';

/** What `init` prints about the tables, without the address in its first line. */
function tableLines(stdout: string): string[] {
  return stdout
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => line.trim().replace(/ +/, ' '));
}

async function missingTables(bench: DriverBench): Promise<number> {
  return (await bench.verifySchema()).filter(({ code }) => code === 'missing-table').length;
}

/** What `init` and `sql` do on these databases. */
export function testInitOn(on: readonly DatabaseName[]): void {
  const testInit = (name: string, body: (bench: DriverBench) => Promise<void>): void =>
    testDrivers(name, body, on);

  testInit('init creates the tables with which a guard of the same address runs a job', async (bench) => {
    const env = { DATABASE_URL: bench.url };
    const first = await cronlatch(['init'], { env });
    assert.deepEqual([first.status, first.stderr], [0, '']);
    assert.deepEqual(tableLines(first.stdout), [
      ...ALL.map((name) => `${name} will be created`),
      `created ${ALL.join(', ')}`,
    ]);
    assert.deepEqual(await bench.verifySchema(), []);

    const second = await cronlatch(['init'], { env });
    assert.deepEqual([second.status, second.stderr], [0, '']);
    assert.deepEqual(tableLines(second.stdout), [...ALL.map((name) => `${name} exists`), 'nothing to do']);

    await using guard = closing(await bench.createJobGuard(bench.url, { pollInterval: false }));
    assert.deepEqual(await guard.run({ name: 'job', lockAtMostFor: '1m' }, () => 1), {
      executed: true,
      value: 1,
    });
  });

  testInit('init creates only the tables that are missing', async (bench) => {
    const ended = await cronlatch(['init', '--url', bench.url, '--tables', 'lock']);
    assert.deepEqual(tableLines(ended.stdout), ['shedlock will be created', 'created shedlock']);
    const rest = await cronlatch(['init', '--url', bench.url]);
    assert.deepEqual(tableLines(rest.stdout), [
      'shedlock exists',
      ...LEDGER.map((name) => `${name} will be created`),
      `created ${LEDGER.join(', ')}`,
    ]);
    assert.deepEqual(await bench.verifySchema(), []);
  });

  testInit('init adds the index that a ledger of an older version lacks', async (bench) => {
    await bench.createTables();
    const on = bench.url.startsWith('mysql') || bench.url.startsWith('mariadb') ? ' ON cronlatch_run' : '';
    await bench.query(`DROP INDEX ix_cronlatch_run_start${on}`);
    const [finding] = await bench.verifySchema();
    assert.equal(finding?.code, 'missing-index');
    await bench.query('DROP TABLE cronlatch_job'); // The same version has added both.
    const ended = await cronlatch(['init', '--url', bench.url]);
    assert.equal(ended.status, 0);
    assert.match(
      ended.stderr,
      /^cronlatch: warning: .* has no index on \(period_start\).* Run: CREATE INDEX/,
    );
    assert.equal(tableLines(ended.stdout).at(-1), 'created cronlatch_job');
    assert.deepEqual(await bench.verifySchema(), []);
  });

  testInit('init uses the names that it is given', async (bench) => {
    const names = ['--lock-table', 'my_locks', '--run-table', 'my_runs', '--job-table', 'my_jobs'];
    const ended = await cronlatch(['init', '--url', bench.url, ...names]);
    assert.equal(
      tableLines(ended.stdout).at(-1),
      'created my_locks, my_runs, my_runs_event, my_jobs, my_runs_act, my_runs_notice, my_runs_log',
    );
    assert.equal((await bench.query('SELECT * FROM my_locks')).length, 0);
  });

  testInit('init names a table that differs and its fix, and changes nothing', async (bench) => {
    await bench.query(WITH_ONE_COLUMN);
    const ended = await cronlatch(['init', '--url', bench.url]);
    assert.equal(ended.status, 1);
    assert.equal(tableLines(ended.stdout)[0], 'shedlock differs');
    const lines = errorLines(ended);
    assert.ok(lines.length > 0);
    for (const line of lines)
      assert.match(
        line,
        /^Table 'shedlock' in .+ has no column '.+'(\. Recreate the table)?\.( Run: ALTER TABLE .+;)?$/,
      );
    assert.equal(await missingTables(bench), 6);
  });

  testInit('init warns of a table that works within a limit', async (bench) => {
    await bench.createTables();
    await bench.query('ALTER TABLE shedlock DROP COLUMN fencing_token');
    const ended = await cronlatch(['init', '--url', bench.url, '--tables', 'lock']);
    assert.equal(ended.status, 0);
    assert.deepEqual(tableLines(ended.stdout), ['shedlock exists', 'nothing to do']);
    const lines = errorLines(ended);
    assert.match(lines[0] ?? '', /^warning: Table 'shedlock' in .+ has no column 'fencing_token'/);
    assert.ok(lines.every((line) => line.startsWith('warning: ')));
  });

  testInit('with --dry-run, init only shows the statements', async (bench) => {
    const ended = await cronlatch(['init', '--url', bench.url, '--dry-run']);
    assert.equal(ended.status, 0);
    const dialect = /^\w+/.exec(bench.url.replace('postgresql', 'postgres'))?.[0] ?? '';
    const { stdout } = await cronlatch(['sql', '--dialect', dialect]);
    assert.ok(stdout.length > 100);
    assert.ok(ended.stdout.endsWith(`\n\n${stdout}`));
    assert.equal(await missingTables(bench), 7);
  });

  testInit('sql prints statements that create what init creates', async (bench) => {
    const dialect = /^\w+/.exec(bench.url)?.[0] ?? '';
    const { stdout, status } = await cronlatch(['sql', '--dialect', dialect]);
    assert.equal(status, 0);
    for (const statement of stdout.split(/;$/m).filter((text) => text.trim() !== ''))
      await bench.query(statement);
    assert.deepEqual(await bench.verifySchema(), []);
  });
}
