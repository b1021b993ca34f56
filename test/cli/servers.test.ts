import assert from 'node:assert/strict';
import { databaseOn, SERVER_NAMES, testOn, type ServerName } from '../support/databases';
import { cronlatch, errorLines } from './cronlatch';

const SECRET = 'top-secret';

interface Reader {
  /** The address of a user who can only read. */
  readonly url: (password?: string) => string;
}

/** A test with a user who can only read the database. */
function testAsReader(name: string, body: (reader: Reader) => Promise<void>, on = SERVER_NAMES): void {
  for (const server of on)
    testOn(server, name, async () => {
      const database = await databaseOn(server);
      const user = `reader_${database.name.slice(-12)}`;
      try {
        for (const statement of grants(server, user, database.name)) await database.ask(statement);
        await body({
          url(password = SECRET) {
            const url = new URL(database.url.replace(/^mariadb:/, 'mysql:'));
            url.username = user;
            url.password = password;
            return url.href.replace(/^mysql:/, `${server}:`);
          },
        });
      } finally {
        const dropped =
          server === 'postgres' ? [`DROP OWNED BY ${user}`, `DROP USER ${user}`] : [`DROP USER ${user}`];
        for (const statement of dropped) await database.ask(statement);
        await database.dispose();
      }
    });
}

function grants(server: ServerName, user: string, database: string): string[] {
  if (server === 'postgres')
    return [
      'REVOKE CREATE ON SCHEMA public FROM PUBLIC',
      `CREATE USER ${user} PASSWORD '${SECRET}'`,
      `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${user}`,
    ];
  return [`CREATE USER ${user} IDENTIFIED BY '${SECRET}'`, `GRANT SELECT ON ${database}.* TO ${user}`];
}

testAsReader('init without the right to create tables names the table and what to do', async ({ url }) => {
  const ended = await cronlatch(['init', '--url', url()]);
  assert.equal(ended.status, 1);
  const [line = '', ...more] = errorLines(ended);
  assert.deepEqual(more, []);
  assert.match(line, /rejected the statement for table 'shedlock': .*denied/);
  assert.match(line, /Run init as a user who may create tables, or .+ that init prints with --dry-run\.$/);
  assert.ok(!ended.stderr.includes(SECRET));
});

testAsReader(
  'init with a wrong password does not repeat it',
  async ({ url }) => {
    const ended = await cronlatch(['init'], { env: { DATABASE_URL: url(`not-${SECRET}`) } });
    assert.deepEqual([ended.status, ended.stdout], [1, '']);
    assert.equal(errorLines(ended).length, 1);
    assert.match(ended.stderr, /Access denied/);
    assert.ok(!ended.stderr.includes(SECRET));
  },
  ['mysql', 'mariadb'], // The tests' PostgreSQL accepts every password.
);

for (const server of SERVER_NAMES)
  testOn(server, 'init on a server that cannot be reached names its address alone', async () => {
    const url = `${server}://user:${SECRET}@127.0.0.1:1/app`;
    const ended = await cronlatch(['init', '--url', url]);
    assert.deepEqual([ended.status, ended.stdout], [1, '']);
    assert.equal(errorLines(ended).length, 1);
    assert.match(ended.stderr, /at 127\.0\.0\.1:1: .*ECONNREFUSED/);
    assert.ok(!ended.stderr.includes(SECRET) && !ended.stderr.includes('user'));
  });

for (const server of SERVER_NAMES)
  testOn(server, 'init on a database that does not exist reports it in one line', async () => {
    const database = await databaseOn(server);
    await database.dispose();
    const ended = await cronlatch(['init', '--url', database.url]);
    assert.deepEqual([ended.status, ended.stdout], [1, '']);
    const [line = '', ...more] = errorLines(ended);
    assert.deepEqual(more, []);
    assert.ok(line.includes(database.name));
    assert.match(line, /Create the database, or correct its name\.$/);
  });

testOn('postgres', 'init in a schema that does not exist reports it in one line', async () => {
  const database = await databaseOn('postgres');
  try {
    const ended = await cronlatch(['init', '--url', database.url, '--schema', 'missing']);
    assert.equal(ended.status, 1);
    const [line = '', ...more] = errorLines(ended);
    assert.match(
      line,
      /^Could not create the tables in .+: their schema does not exist\. Create the schema, /,
    );
    assert.deepEqual(more, []);
  } finally {
    await database.dispose();
  }
});
