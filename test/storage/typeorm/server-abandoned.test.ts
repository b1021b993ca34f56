import assert from 'node:assert/strict';
import { testOnServers } from '../../support/benches/server';
import { eventually } from '../../support/clocks/eventually';
import type { ServerName } from '../../support/databases/fresh';

/** Not SLEEP, because the server ends a SLEEP when its client has gone. */
const ON_MYSQL = [
  `CREATE TRIGGER slow BEFORE UPDATE ON shedlock FOR EACH ROW
    BEGIN DECLARE i INT DEFAULT 0; WHILE i < 50000000 DO SET i = i + 1; END WHILE; END`,
];

/** From now on, writing a row takes many seconds, without waiting for a lock. */
const SLOW: Readonly<Record<ServerName, readonly string[]>> = {
  mysql: ON_MYSQL,
  mariadb: ON_MYSQL,
  postgres: [
    `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(30); RETURN NEW; END $$`,
    'CREATE TRIGGER slow BEFORE UPDATE ON shedlock FOR EACH ROW EXECUTE FUNCTION slow()',
  ],
};

const ACTIVE_ON_POSTGRES = `
  SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'`;

testOnServers('the server stops a statement that its client has abandoned', async (bench) => {
  const provider = bench.provider({ statementTimeout: '1s' });
  await (await provider.lock({ name: 'job', lockAtMostFor: '1m' }))?.unlock();
  for (const text of SLOW[bench.server]) await bench.application.query(text);
  await assert.rejects(provider.lock({ name: 'job', lockAtMostFor: '1m' }), { code: 'CRONLATCH_STORAGE' });
  const isQuiet = async (): Promise<boolean> => {
    if (bench.server !== 'postgres') return !(await bench.stranger.isAnySessionBusy());
    const busy = await bench.database.ask(ACTIVE_ON_POSTGRES);
    return busy.length === 0;
  };
  await eventually(isQuiet, 'the server has ended the statement');
});
