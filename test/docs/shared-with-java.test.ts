import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { closing } from '../support/benches/closing';
import {
  databaseOn,
  testOnEveryServer,
  type ServerName,
  type TestDatabase,
} from '../support/databases/fresh';

/** What a session of ShedLock for Java does, with its four columns and `usingDbTime()`. */
interface Java {
  readonly now: string;
  readonly inTenMinutes: string;
  readonly setZone: (zone: string) => string;
  /** East of Greenwich. */
  readonly elsewhere: string;
  readonly utc: string;
  /** Whether a lock that Java took elsewhere is seen, by the type of its times. */
  readonly seenFromElsewhere: Readonly<Record<string, boolean>>;
}

const MYSQL: Java = {
  now: 'UTC_TIMESTAMP(3)',
  inTenMinutes: 'UTC_TIMESTAMP(3) + INTERVAL 10 MINUTE',
  setZone: (zone) => `SET time_zone = '${zone}'`,
  elsewhere: '+02:00',
  utc: '+00:00',
  seenFromElsewhere: { 'DATETIME(6)': true, 'TIMESTAMP(3)': false },
};

const POSTGRES: Java = {
  now: `timezone('utc', current_timestamp)`,
  inTenMinutes: `timezone('utc', current_timestamp) + interval '10 minutes'`,
  setZone: (zone) => `SET TIME ZONE '${zone}'`,
  elsewhere: 'Asia/Tokyo',
  utc: 'UTC',
  seenFromElsewhere: { timestamp: true, timestamptz: false },
};

const SESSIONS: Readonly<Record<ServerName, Java>> = { mysql: MYSQL, mariadb: MYSQL, postgres: POSTGRES };

/** Whether each side sees the lock of the other. */
async function eachSees(
  { options }: TestDatabase,
  java: Java,
  type: string,
  zone: string,
): Promise<{ node: boolean; java: boolean }> {
  // One connection: the zone is a session's.
  await using session = closing(
    await new DataSource({ ...options, poolSize: 1 } as typeof options).initialize(),
  );
  await using provider = closing(new TypeOrmLockProvider(session, { onWarning: () => {} }));
  const [digits = ''] = /\(\d\)/.exec(type) ?? [];
  await session.query('DROP TABLE IF EXISTS shedlock');
  await session.query(
    `CREATE TABLE shedlock (name VARCHAR(64) NOT NULL, lock_until ${type} NOT NULL, 
         locked_at ${type} NOT NULL DEFAULT CURRENT_TIMESTAMP${digits}, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))`,
  );
  await session.query(java.setZone(zone));
  await session.query(
    `INSERT INTO shedlock VALUES ('by-java', ${java.inTenMinutes}, ${java.now}, 'java-host')`,
  );
  const refused = await provider.lock({ name: 'by-java', lockAtMostFor: '1m' });
  const lock = await provider.lock({ name: 'by-node', lockAtMostFor: '1m' });
  assert.equal(lock?.fencingToken, undefined);
  const free = await session.query<object[]>(
    `SELECT name FROM shedlock WHERE name = 'by-node' AND lock_until <= ${java.now}`,
  );
  return { node: refused === undefined, java: lock !== undefined && free.length === 0 };
}

testOnEveryServer(
  'Java and Node see the locks of one another in the cases of the page',
  async (server, t) => {
    const database = await databaseOn(server);
    t.after(() => database.dispose());
    const java = SESSIONS[server];
    for (const [type, seen] of Object.entries(java.seenFromElsewhere)) {
      assert.deepEqual(await eachSees(database, java, type, java.utc), { node: true, java: true }, type);
      assert.equal((await eachSees(database, java, type, java.elsewhere)).node, seen, `${type} elsewhere`);
    }
  },
);
