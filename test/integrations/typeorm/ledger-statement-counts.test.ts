import assert from 'node:assert/strict';
import { currentRun } from 'cronlatch';
import { DataSource } from 'typeorm';
import { createCronlatchMigration, createJobGuard } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { testOnServers } from '../../support/benches/server';
import { eventually } from '../../support/clocks/eventually';
import { createRunTables } from '../../support/databases/run-tables';
import { statementLog } from '../../support/databases/statement-log';

const DAY = { period: 'day', timeZone: 'Europe/Paris' } as const;
const JOB = { name: 'job', lockAtMostFor: '1m', oncePer: DAY } as const;

testOnServers(
  'a tick of a completed day without overdue runs costs one read, a first run of the day five statements',
  async (bench) => {
    const { options } = bench.database;
    const sets = ['ledger', 'jobs', 'operations'] as const;
    const migrations = sets.map((set) => createCronlatchMigration({ tables: [set] }));
    await using migrating = closing(await new DataSource({ ...options, migrations }).initialize());
    await migrating.runMigrations();
    const log = bench.closeAtEnd(await statementLog(bench.server, bench.database));
    const sent = (): string[] => verbs(log.statements());
    const application = await bench.connected({ url: log.url });
    const guard = bench.closeAtEnd(await createJobGuard(application, { pollInterval: false }));
    const at = (date: string) => ({ ...JOB, at: new Date(`${date}T12:00:00Z`) });
    await guard.run(at('2026-11-18'), () => {}); // The first run also checks the tables, and creates the lock's row.
    sent();

    await guard.run(at('2026-11-19'), () => {});
    const takeOver = takeOverOn(bench.server);
    const first = ['SELECT', takeOver, 'INSERT', 'UPDATE', 'UPDATE'];
    assert.deepEqual(sent(), first, 'peek, lock, claim, completion, release');

    for (let tick = 0; tick < 3; tick += 1) {
      const { executed } = await guard.run(at('2026-11-19'), () => assert.fail('ran'));
      assert.equal(executed, false);
    }
    assert.deepEqual(sent(), Array(3).fill('SELECT'), 'ticks of a completed day');

    const failing = { ...at('2026-11-20'), oncePer: { ...DAY, retry: { initialDelay: '10m' } } };
    await assert.rejects(guard.run(failing, () => Promise.reject(new Error('no bank'))));
    const recorded = [
      bench.server === 'postgres' ? 'BEGIN' : 'START',
      'SELECT',
      'UPDATE',
      'INSERT',
      'COMMIT',
    ];
    assert.deepEqual(sent(), ['SELECT', takeOver, 'INSERT', ...recorded, 'UPDATE'], 'a failed attempt');
    await guard.run(failing, () => assert.fail('ran'));
    assert.deepEqual(sent(), ['SELECT'], 'a tick before the next attempt is due');

    for (const name of ['registered', 'another']) guard.wrap({ ...JOB, name }, () => {});
    await guard.runOverdue();
    const registration = ['SELECT', 'SELECT', 'INSERT'];
    assert.deepEqual(
      sent().sort(),
      [...registration, 'SELECT', 'SELECT', 'SELECT'].sort(),
      'two jobs are registered, the table of requests is checked, and requests and overdue runs are read',
    );
    await guard.runOverdue();
    assert.deepEqual(sent(), ['SELECT', 'SELECT'], 'a minute without requests and overdue runs');
  },
);

testOnServers(
  'with keepLog, a tick costs as much as before, and a run that prints two statements more',
  async (bench) => {
    await createRunTables(await bench.connected());
    const log = bench.closeAtEnd(await statementLog(bench.server, bench.database));
    const options = { pollInterval: false, logger: false, keepLog: '64 kB' } as const;
    const guard = bench.closeAtEnd(await createJobGuard(bench.dataSource({ url: log.url }), options));
    /** So many statements, and no further one until the next call. */
    const sent = async (count: number): Promise<string[]> => {
      const all: string[] = [];
      const read = (): number => all.push(...verbs(log.statements()));
      await eventually(() => read() >= count, `${count} statements`);
      return all;
    };
    const run = (date: string, print: () => void): Promise<unknown> =>
      guard.run({ ...JOB, at: new Date(`${date}T12:00:00Z`) }, print);
    await run('2026-11-18', () => currentRun().log('the tables are checked'));
    const atStart = await sent(1);
    await eventually(async () => {
      atStart.push(...(await sent(0)));
      return atStart.filter((verb) => verb === 'INSERT').length === 4;
    }, 'place, lock, claim and log are inserted');

    const usual = ['SELECT', takeOverOn(bench.server), 'INSERT', 'UPDATE', 'UPDATE'];
    await run('2026-11-19', () => {});
    assert.deepEqual(await sent(5), usual);
    await run('2026-11-19', () => assert.fail('ran'));
    assert.deepEqual(await sent(1), ['SELECT']);
    await run('2026-11-20', () => currentRun().log('a line\nand another one'));
    assert.deepEqual((await sent(7)).sort(), [...usual, 'SELECT', 'INSERT'].sort());
  },
);

/** PostgreSQL's statement also shows whether a lock that it has not taken is held. */
function takeOverOn(server: string): string {
  return server === 'postgres' ? 'WITH' : 'UPDATE';
}

/** Without the first statements of a connection: whether a second one is opened depends on the machine. */
function verbs(statements: readonly string[]): string[] {
  return statements
    .map((text) => text.trim())
    .filter((text) => !/AS session_id,|^SET .*isolation/i.test(text))
    .map((text) => text.replace(/[\s;].*/s, ''));
}
