import assert from 'node:assert/strict';
import { currentRun, LockStorageError, OncePerDay, SchedulerLock, SchemaMismatchError } from 'cronlatch';
import { createJobGuard as createMysqlGuard } from 'cronlatch/mysql2';
import { createJobGuard as createPgGuard } from 'cronlatch/pg';
import { cronlatch } from '../cli/cronlatch';
import { closing } from '../support/benches/closing';
import { testDrivers, type DriverBench } from '../support/benches/driver';
import { codeBlocksOf } from '../support/checks/page';
import { eventually } from '../support/clocks/eventually';
import type { ServerName } from '../support/databases/fresh';
import { withUser } from '../support/databases/user';
import { BY, purge } from '../support/jobs/acts';
import { operations } from 'cronlatch/operations';

const [onMysql = '', onPostgres = ''] = codeBlocksOf('docs/security.md').map(({ text }) => text);

for (const server of ['mysql', 'postgres'] as const)
  testDrivers(
    'a user with the privileges on the page runs jobs, and purges only if it may also delete',
    async (bench) => {
      await bench.createTables();
      const createJobGuard = bench.driver === 'pg' ? createPgGuard : createMysqlGuard;
      await asUser(server, bench, async (user) => {
        const options = { logger: false, pollInterval: false, keepLog: 1000 } as const;
        await using guard = closing(await createJobGuard(user.url, options));
        const warnings: unknown[] = [];
        guard.on('guard:warning', (warning) => warnings.push(warning));
        const oncePer = { period: 'day', timeZone: 'UTC' } as const;
        const lock = { name: 'close-day', lockAtMostFor: '1m', keepAlive: true };
        assert.equal((await guard.run({ name: 'sync', lockAtMostFor: '1m' }, () => 1)).executed, true);
        const print = async (): Promise<void> => {
          currentRun().progress(1);
          currentRun().log('a line');
          await eventually(
            async () => (await operations(guard).overview()).jobs[0]?.running[0]?.done === 1,
            'progress',
          );
          currentRun().progress(2);
        };
        const aWeekAgo = new Date(Date.now() - 7 * 86_400_000);
        for (const at of [aWeekAgo, undefined])
          assert.equal((await guard.run({ ...lock, oncePer, at }, print)).executed, true);
        await operations(guard).rerun({ job: 'close-day' }, { ...BY, force: true });
        assert.equal((await guard.run({ ...lock, oncePer }, () => 1)).executed, true);
        assert.deepEqual(await guard.ledger.jobs(), []);
        await assert.rejects(purge(guard, '1ms'), LockStorageError);
        await user.grantDelete();
        assert.equal(await purge(guard, '1ms'), 1);
        assert.deepEqual(warnings, []);
      });
    },
    [server],
  );

for (const server of ['mysql', 'mariadb', 'postgres'] as const)
  testDrivers(
    'a user who can only read answers the questions of an operator',
    async (bench) => {
      await bench.createTables();
      const guard = await bench.createJobGuard(bench.url, { logger: false, pollInterval: false });
      const oncePer = { period: 'day', timeZone: 'UTC' } as const;
      guard.wrap({ name: 'close-day', lockAtMostFor: '1m', oncePer }, () => {});
      await guard.run({ name: 'close-day', lockAtMostFor: '1m', oncePer }, () => {});
      await eventually(async () => (await guard.ledger.jobs()).length === 1, 'the registration of the job');
      await guard.close();
      const tables = [
        'shedlock',
        'cronlatch_run',
        'cronlatch_run_event',
        'cronlatch_job',
        'cronlatch_run_act',
        'cronlatch_run_notice',
      ];
      const grants = (account: string, table: (name: string) => string): string =>
        tables.map((name) => `GRANT SELECT ON ${table(name)} TO ${account}`).join(';');
      const work = async ({ url }: User): Promise<void> => {
        const ended = async (args: string): Promise<unknown[]> => {
          const { status, stderr } = await cronlatch(args.split(' '), { env: { DATABASE_URL: url } });
          return [args, status, stderr];
        };
        for (const command of ['status', 'jobs', 'locks'])
          assert.deepEqual(await ended(command), [command, 0, '']);
        for (const command of ['history', 'why', 'history --missed --from 2026-11-20'])
          assert.deepEqual((await ended(command.replace(/^\w+/, '$& close-day')))[2], '', command);
        // Because the user cannot run jobs.
        assert.deepEqual(await ended('doctor'), ['doctor', 1, '']);
      };
      await asUser(server, bench, work, grants);
    },
    [server],
  );

class Jobs {
  @OncePerDay({ timeZone: 'UTC' })
  @SchedulerLock('close-books', '10m')
  closeBooks(): void {}
}

for (const server of ['mysql', 'mariadb', 'postgres'] as const)
  testDrivers(
    'a user who cannot record failures is refused at the start, with the statements to run',
    async (bench) => {
      assert.ok(Jobs);
      await bench.createTables();
      const createJobGuard = bench.driver === 'pg' ? createPgGuard : createMysqlGuard;
      const withoutEvents = (account: string, table: (name: string) => string): string =>
        grantsOfPage(account, table)
          .replace(/SELECT, INSERT ON (\S*cronlatch_run_event)/, 'SELECT ON $1')
          .replace('cronlatch_run_event_id_seq, ', '');
      const work = async ({ url }: User): Promise<void> => {
        const error: unknown = await createJobGuard(url, { logger: false }).catch((each: unknown) => each);
        assert.ok(error instanceof SchemaMismatchError, String(error));
        const statements = [...error.message.matchAll(/ Run: (GRANT .+);$/gm)].map(([, each = '']) => each);
        assert.equal(statements.length, bench.driver === 'pg' ? 2 : 1, error.message);
        for (const statement of statements) await bench.query(statement);
        await (await createJobGuard(url, { logger: false })).close();
      };
      await asUser(server, bench, work, withoutEvents);
    },
    [server],
  );

/** The statements of the page for the application. */
function grantsOfPage(account: string, table: (name: string) => string): string {
  const user = account.startsWith("'") ? onMysql : onPostgres;
  return user
    .replace(/'billing'@'%'|billing/g, account)
    .replace(/app\.(\w+)/g, (_, name: string) => table(name));
}

interface User {
  readonly url: string;
  readonly grantDelete: () => Promise<void>;
}

/** Works as a user of the database who has these privileges, and no others. */
async function asUser(
  server: ServerName,
  { url, query: ask }: Pick<DriverBench, 'url' | 'query'>,
  body: (user: User) => Promise<void>,
  grants = grantsOfPage,
): Promise<void> {
  const prefix = server === 'postgres' ? '' : `${new URL(url).pathname.slice(1)}.`;
  const tableOf = (table: string): string => `${prefix}${table}`;
  await withUser(server, { url, ask }, async ({ account, url: own }) => {
    for (const statement of grants(account, tableOf).split(';'))
      if (statement.trim() !== '') await ask(statement);
    const grantDelete = async (): Promise<void> => {
      for (const table of ['run', 'run_event', 'run_log', 'run_act', 'run_notice'])
        await ask(`GRANT DELETE ON ${tableOf(`cronlatch_${table}`)} TO ${account}`);
    };
    await body({ url: own, grantDelete });
  });
}
