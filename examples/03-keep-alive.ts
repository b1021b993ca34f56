/**
 * A short `lockAtMostFor` and a long job: cronlatch renews the lease while the job runs. If its process dies,
 * others may start the job two seconds later, however long it would have run. If the lock is lost
 * nevertheless, the job's signal aborts.
 */
import { setTimeout } from 'node:timers/promises';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

// Two seconds, so that you can watch it; '30s' would be short enough. Renewed every third of that time.
const EXPORT = { name: 'export-orders', lockAtMostFor: '2s', keepAlive: true } as const;

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the lock table.
  const guard = await createJobGuard(dataSource, { logger: false }); // The events are printed here instead of logged.
  guard.on('lock:extended', ({ lockAtMostForMs }) => console.log(`renewed for ${lockAtMostForMs} ms`));
  guard.on('lock:lost', ({ error }) => console.log(error.message));
  guard.on('lock:released', ({ stillOurs }) => console.log(`released, still held: ${stillOurs}`));

  await guard.run(EXPORT, async ({ signal }) => {
    console.log('a job of three seconds');
    await setTimeout(3000, undefined, { signal }); // The work.
  });

  const stopped = guard.run(EXPORT, async ({ signal }) => {
    console.log('a job of an hour');
    // An operator assumes that its process has died. The next renewal detects the deletion.
    await dataSource.query(`DELETE FROM shedlock WHERE name = 'export-orders'`);
    // Functions that take a signal, as fetch does, stop on their own. Otherwise call signal.throwIfAborted()
    // before each effect.
    await setTimeout(3_600_000, undefined, { signal });
  });
  await stopped.catch(({ name }: Error) => console.log(`it ended with an ${name}`));

  await guard.close();
  await dataSource.destroy();
}

void main();
