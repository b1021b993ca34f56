import assert from 'node:assert/strict';
import { closing } from '../support/benches/closing';
import {
  databaseOn,
  SERVER_NAMES,
  testOn,
  testOnEveryServer,
  type ServerName,
} from '../support/databases/fresh';
import { PASSWORD, withUser } from '../support/databases/user';
import { cronlatch, errorLines } from './cronlatch';

interface Reader {
  /** The address of a user who can only read. */
  readonly url: (password?: string) => string;
  readonly user: string;
  readonly database: Awaited<ReturnType<typeof databaseOn>>;
}

/** A test with a user who can only read the database. */
function testAsReader(
  name: string,
  body: (reader: Reader, server: ServerName) => Promise<void>,
  on = SERVER_NAMES,
): void {
  for (const server of on)
    testOn(server, name, async () => {
      await using database = closing(await databaseOn(server));
      const isPostgres = server === 'postgres';
      if (isPostgres) await database.ask('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
      const tables = isPostgres ? 'ALL TABLES IN SCHEMA public' : `${database.name}.*`;
      await withUser(server, database, async ({ name: user, account, url }) => {
        await database.ask(`GRANT SELECT ON ${tables} TO ${account}`);
        const urlWith = (password: string): string =>
          url.replace(`:${PASSWORD}@`, `:${password}@`).replace(/^mysql:/, `${server}:`);
        await body({ user, database, url: (password = PASSWORD) => urlWith(password) }, server);
      });
    });
}

/** The only line with which each of these commands fails. */
async function failureOf(url: string): Promise<string> {
  const lines = new Set<string>();
  for (const command of ['init', 'status', 'doctor']) {
    const ended = await cronlatch([command], { env: { DATABASE_URL: url } });
    assert.deepEqual([ended.status, ended.stdout], [1, '']);
    errorLines(ended).forEach((line) => lines.add(line));
  }
  const [line = '', ...more] = lines;
  assert.deepEqual(more, []);
  assert.ok(!line.includes(PASSWORD), line);
  return line;
}

testAsReader(
  'init without the right to create tables prints the statement that grants it',
  async (reader) => {
    const { url, database } = reader;
    const ended = await cronlatch(['init', '--url', url()]);
    assert.equal(ended.status, 1);
    const [line = '', ...more] = errorLines(ended);
    assert.deepEqual(more, []);
    assert.match(line, /rejected the statement for table 'shedlock': .*denied/);
    const [, grant = ''] = /As an administrator, run: (GRANT .+);$/.exec(line) ?? [];
    assert.ok(!ended.stderr.includes(PASSWORD));
    await database.ask(grant);
    assert.equal((await cronlatch(['init', '--url', url()])).status, 0, grant);
  },
);

testAsReader(
  'a change without the right to write names the right',
  async ({ url, database }) => {
    await cronlatch(['init', '--url', database.url]);
    const pause = ['pause', '--lock', 'job', '--reason', 'a test', '--yes'];
    const ended = await cronlatch([...pause, '--url', url()]);
    assert.equal(ended.status, 1);
    assert.match(
      errorLines(ended).join('\n'),
      /rejected .+ lock 'job': .*denied.+ Grant this right, or use another /,
    );
  },
  ['mysql', 'mariadb'],
); // On PostgreSQL, the user may not even see tables that are created later.

testAsReader(
  'a refused login is reported with its user, and without its password',
  async ({ url, user }, server) => {
    // The tests' PostgreSQL accepts every password.
    if (server === 'postgres') {
      const line = await failureOf(url().replace(user, 'nobody'));
      return assert.match(
        line,
        /^Cannot log in to PostgreSQL at \S+ as nobody: role "nobody" does not exist\.$/,
      );
    }
    const line = await failureOf(url(`not-${PASSWORD}`));
    const [, found] =
      /^Cannot log in to M\w+ at \S+ as (\S+): the server refused the user name or the password \(Access denied/.exec(
        line,
      ) ?? [];
    assert.equal(found, user);
  },
);

testAsReader('a database that the user may not use is named', async ({ url, user, database }, server) => {
  const isPostgres = server === 'postgres';
  const may = (verb: string): unknown => isPostgres && database.ask(`${verb} PUBLIC`);
  const name = isPostgres ? database.name : 'mysql';
  await may(`REVOKE CONNECT ON DATABASE ${name} FROM`);
  try {
    const line = await failureOf(url().replace(database.name, name));
    const beginning = new RegExp(`^Cannot use database '${name}' on \\w+ at \\S+ as ${user}: .*denied`);
    assert.match(line, beginning);
  } finally {
    await may(`GRANT CONNECT ON DATABASE ${name} TO`);
  }
});

testOnEveryServer('a server that cannot be reached is named with its address alone', async (server) => {
  const refused = await failureOf(`${server}://user:${PASSWORD}@127.0.0.1:1/app`);
  assert.match(refused, /^Cannot reach \w+ at 127\.0\.0\.1:1: nothing listens there \(.*ECONNREFUSED.*\)\.$/);
  const unknown = await failureOf(`${server}://user:${PASSWORD}@db.invalid/app`);
  assert.match(
    unknown,
    /^Cannot reach \w+ at db\.invalid:\d+: the (host is unknown|name of the host cannot be) /,
  );
});

testOnEveryServer('a database that does not exist is named', async (server) => {
  const database = await databaseOn(server);
  await database.dispose();
  const line = await failureOf(database.url);
  assert.match(
    line,
    new RegExp(`^There is no database '${database.name}' on .+\\. Create it, or correct its name\\.$`),
  );
});

testOn('postgres', 'init in a schema that does not exist reports it in one line', async () => {
  await using database = closing(await databaseOn('postgres'));
  const ended = await cronlatch(['init', '--url', database.url, '--schema', 'missing']);
  assert.equal(ended.status, 1);
  const [line = '', ...more] = errorLines(ended);
  assert.match(
    line,
    /^Table 'missing\.shedlock' in .+ is missing: .+\. Create the schema, or correct its name\.$/,
  );
  assert.deepEqual(more, []);
});
