import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe } from 'node:test';
import { copyOf, type FolderCopy, type RunningFolder } from '../../examples/running-folder';
import { closing } from '../../support/benches/closing';
import { postgresDatabase, testOn, testWith } from '../../support/databases/fresh';

const OPTIONS = { NO_COLOR: '1', PORT: '0' };

// They wait more than they work.
void describe('the folders to copy', { concurrency: 2 }, () => {
  const ONE_CONTINUES = 'each tick runs in one instance, and one continues when the other is killed';

  testWith(
    'postgres',
    `express-pg: ${ONE_CONTINUES}, and the dashboard needs the password`,
    async (database) => {
      await using folder = await copyOf('express-pg');
      await assertNeedsAddress(folder);
      const environment = { ...database.environment, ...OPTIONS, DASHBOARD_PASSWORD: 'secret' };
      const survivor = await assertOneContinues(folder, () => folder.start(environment));

      const statusWith = async (login: Record<string, string>): Promise<number> =>
        (await fetch(`${addressOf(survivor)}/jobs`, { headers: login })).status;
      const basic = (login: string) => ({ authorization: `Basic ${Buffer.from(login).toString('base64')}` });
      assert.equal(await statusWith({}), 401);
      assert.equal(await statusWith(basic('admin:wrong')), 401);
      assert.equal(await statusWith(basic('admin:secret')), 200);
    },
  );

  testWith('mysql', `nestjs-typeorm-mysql: ${ONE_CONTINUES}`, async ({ environment }) => {
    await using folder = await copyOf('nestjs-typeorm-mysql');
    await assertNeedsAddress(folder);
    await assertOneContinues(folder, () => folder.start({ ...environment, ...OPTIONS }));
  });

  // A migration needs the schema engine, a binary that Prisma downloads at its first use. So it is done by hand here.
  testOn('postgres', `nestjs-prisma-postgres: ${ONE_CONTINUES}`, async () => {
    await using database = closing(await postgresDatabase());
    await using folder = await copyOf('nestjs-prisma-postgres');
    const withoutAddress = await folder.start({ DATABASE_URL: undefined });
    await withoutAddress.prints(['…Cannot resolve environment variable: DATABASE_URL…']);

    const migration = 'examples/nestjs-prisma-postgres/prisma/migrations/1_session/migration.sql';
    await database.ask(readFileSync(migration, 'utf8'));
    const environment = { ...database.environment, ...OPTIONS, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true' };
    await folder.run(environment, 'npx', 'cronlatch', 'init');
    await folder.run(environment, 'npm', 'run', 'build');
    await assertOneContinues(folder, () => folder.start(environment, '--ignore-scripts'));
  });

  testWith(
    'postgres',
    'fastify-kysely: one instance closes the day, and the other closes it again after a crash and a rerun',
    async ({ environment }) => {
      await using folder = await copyOf('fastify-kysely');
      const start = (): Promise<RunningFolder> => folder.start({ ...environment, ...OPTIONS });
      const first = await start();
      await first.prints(folder.promised);
      const second = await start();
      await second.prints(folder.promised.slice(0, 1));
      await first.kill();
      const options = ['close-day', 'today', '--force', '--reason', 'try it', '--yes'];
      await folder.run(environment, 'npx', 'cronlatch', 'rerun', ...options);
      // The second may find the request when it looks for runs that are due, before the next tick.
      await second.prints(folder.promised.map((line) => line.replace(', scheduled at …', '…')));

      assert.equal(ticksOf(first).length, 1);
      const closings = (await (await fetch(addressOf(second))).json()) as unknown[];
      assert.equal(closings.length, 1);
    },
  );
});

async function assertNeedsAddress(folder: FolderCopy): Promise<void> {
  const instance = await folder.start({ DATABASE_URL: undefined });
  await instance.prints(['…No database was given. Set DATABASE_URL…']);
}

/** @returns the instance that continues */
async function assertOneContinues(
  folder: FolderCopy,
  start: () => Promise<RunningFolder>,
): Promise<RunningFolder> {
  const first = await start();
  await first.prints(folder.promised);
  const second = await start();
  await second.prints(folder.promised.slice(0, 1));
  await untilTicks(ticksOf(first, second).length + 2, first, second);
  await first.kill();
  await untilTicks(ticksOf(second).length + 1, second);

  const ticks = ticksOf(first, second);
  assert.equal(new Set(ticks).size, ticks.length, 'no tick runs twice');
  return second;
}

function addressOf({ lines }: RunningFolder): string {
  const [, address = ''] = /listening on (\S+)/.exec(lines.join('\n')) ?? [];
  return address;
}

/** Resolves when they have completed so many runs together. */
async function untilTicks(count: number, ...instances: readonly RunningFolder[]): Promise<void> {
  const isReached = (): boolean => ticksOf(...instances).length >= count;
  await Promise.race(instances.map((instance) => instance.until(isReached, `${count} ticks`)));
}

/** The scheduled times of the runs that they have completed. */
function ticksOf(...instances: readonly RunningFolder[]): string[] {
  return instances.flatMap(({ lines }) =>
    lines.flatMap((line) => /run:completed: .*scheduled at (\S+)\)/.exec(line)?.[1] ?? []),
  );
}
