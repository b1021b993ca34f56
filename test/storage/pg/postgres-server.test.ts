import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { systemClock } from 'cronlatch/provider';
import { ownPostgresOptions, postgresDatabase } from '#cronlatch/storage/pg/postgres-server';

void test('connection settings are copied, and those that would change a result are left out', () => {
  const way = { connectionString: 'postgres://u:p@db/app', ssl: true, application_name: 'billing' };
  const kept = { options: '-c search_path=ops', keepAlive: true };
  const changing = { max: 50, statement_timeout: 1, types: {}, query_timeout: 1, parseInt8: true };
  assert.deepEqual(ownPostgresOptions({ ...way, ...kept, ...changing, password: 'q' }, 5000), {
    ...way,
    ...kept,
    password: 'q',
    connectionTimeoutMillis: 5000,
  });
});

/** A client that connects, and then answers nothing. */
class Client extends EventEmitter {
  static readonly made: Client[] = [];
  ended = false;
  constructor() {
    super();
    Client.made.push(this);
  }
  connect = (): Promise<void> => Promise.resolve();
  end = (): Promise<void> => {
    this.ended = true;
    return Promise.resolve();
  };
}

void test('the application’s own check of a new client is kept', async () => {
  const checked: unknown[] = [];
  const verify = (client: unknown, done: (error: Error) => void): void => {
    checked.push(client);
    done(new Error('not this one'));
  };
  const database = postgresDatabase({ Client, options: { verify } });
  const settings = { clock: systemClock, statementTimeoutMs: 5000, warn: () => {} };
  const connections = database.connect(settings);
  await assert.rejects(async () => await connections.open(5000), /not this one/);
  const client = Client.made.at(-1);
  assert.deepEqual(checked, [client]);
  assert.equal(client?.ended, true);
  assert.equal(client?.emit('error', new Error('unheard')), true);
});

void test("with target_session_attrs 'primary', a server in recovery is refused", async () => {
  const asked: string[] = [];
  class Standby extends Client {
    query = ({ text }: { text: string }) => {
      asked.push(text);
      return Promise.resolve({ rows: [{}], rowCount: 1 });
    };
  }
  const options = { target_session_attrs: 'primary' };
  const database = postgresDatabase({ Client: Standby, options });
  const settings = { clock: systemClock, statementTimeoutMs: 5000, warn: () => {} };
  await assert.rejects(
    async () => await database.connect(settings).open(5000),
    /target_session_attrs is 'primary', but .*: connect to the primary/,
  );
  assert.deepEqual(asked, ['SELECT 1 WHERE pg_is_in_recovery()']);
  assert.equal(Client.made.at(-1)?.ended, true);
});
