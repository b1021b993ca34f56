import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from 'cronlatch/provider';
import { isPooled } from '#cronlatch/storage/sql/connections/proxy-check';
import { Connections } from '#cronlatch/storage/sql/connections/connections';
import { OwnServerConnections } from '#cronlatch/storage/sql/connections/server-connections';
import type { DriverSession, ServerDriver } from '#cronlatch/storage/sql/connections/server-driver';
import { SqlExecutionError, type SqlResult } from '#cronlatch/storage/sql/statements/statement';
import { mysqlServer } from '#cronlatch/storage/mysql2/mysql-server';
import { postgresServer } from '#cronlatch/storage/pg/postgres-server';
import { ChangedSettings, serverTransaction } from '#cronlatch/storage/sql/connections/transaction';

type Row = SqlResult['rows'][number];

/** The answers to a plain SELECT and to one that locks. */
interface Answers {
  readonly plain: readonly Row[];
  readonly locking?: readonly Row[];
  /** Of the sessions, one for each statement. Default: that of the connection. */
  readonly sessionIds?: readonly number[];
  /** The error that a statement rejects with. */
  readonly errorOf?: (text: string) => Error | undefined;
}

function bench(driver: ServerDriver, answers: Answers) {
  const { plain, locking = plain, sessionIds = [], errorOf } = answers;
  const log: string[] = [];
  const warnings: string[] = [];
  const ids = [...sessionIds];
  let opened = 0;
  const session = (): DriverSession => {
    const id = (opened += 1);
    return {
      id,
      send({ text }) {
        log.push(text);
        const error = errorOf?.(text);
        if (error !== undefined) return Promise.reject(error);
        const rows = /FOR UPDATE$/.test(text) ? locking : plain;
        const answer = rows.map((row) => ({ session_id: ids[0] ?? id, ...row }));
        if (text === driver.variables) ids.shift();
        return Promise.resolve({
          ...{ rows: text.startsWith('SELECT') ? answer : [], affectedRows: 0, insertId: 0 },
          inTransaction: false,
        });
      },
      onEnd: () => {},
      end: () => {},
      destroy: () => {},
    };
  };
  const settings = {
    ...{ clock: systemClock, statementTimeoutMs: 5000 },
    warn: (message: string) => void warnings.push(message),
  };
  const open = () => ({ session: session(), opened: Promise.resolve() });
  const own = new OwnServerConnections(driver, open, settings);
  const connections = new Connections(own, driver.dialect, systemClock);
  const execute = () =>
    connections.run((session, endsAtMs) => session.execute({ id: '', text: 'DO 0', values: [] }, endsAtMs), {
      timeoutMs: 5000,
    });
  return { log, warnings, connections, execute };
}

const variables = (named: Record<string, string>): Row[] =>
  Object.entries(named).map(([name, value]) => ({ is_read_only: '0 0', name, value }));

const REPLICA = { mysql: { is_read_only: '1 0' }, postgres: { is_read_only: 'on' } };
const PRIMARY = { mysql: { is_read_only: '0 0' }, postgres: { is_read_only: 'off' } };

const POOLED = [71, 71, 71, 71, 71, 71];

for (const [name, driver] of [
  ['mysql', mysqlServer],
  ['postgres', postgresServer],
] as const) {
  void test(`on ${name}, a proxy that sends plain SELECTs to a replica is warned of once`, async () => {
    const { warnings, execute } = bench(driver, { plain: [REPLICA[name]], locking: [PRIMARY[name]] });
    await Promise.all([execute(), execute()]);
    assert.deepEqual(warnings.length, 1);
    assert.match(
      warnings[0] ?? '',
      /^A proxy sends plain SELECTs to a replica, .+ load_balance_mode = off\.$/,
    );
  });

  void test(`on ${name}, a session on a replica alone has no proxy before it`, async () => {
    const { warnings, execute } = bench(driver, { plain: [REPLICA[name]] });
    await execute();
    assert.deepEqual(warnings, []);
  });

  void test(`on ${name}, a session of the primary is set up with two statements`, async () => {
    const { log, warnings, execute } = bench(driver, { plain: [PRIMARY[name]] });
    await execute();
    assert.equal(log[0], driver.variables);
    assert.deepEqual([log.length, log[2], warnings], [3, 'DO 0', []]);
  });

  void test(`on ${name}, a pooler that changes the session of the server is warned of once`, async () => {
    const { warnings, execute } = bench(driver, { plain: [PRIMARY[name]], sessionIds: POOLED });
    await Promise.all([execute(), execute()]);
    assert.deepEqual(warnings.length, 1);
    assert.match(
      warnings[0] ?? '',
      /^A pooler gives the sessions of the server to any client\. .+ Use a direct address\. Otherwise nothing has to be done\.$/,
    );
  });
}

void test('on postgres, nothing is set in the sessions of a pooler', async () => {
  const { log, execute } = bench(postgresServer, { plain: [PRIMARY.postgres], sessionIds: POOLED });
  await Promise.all([execute(), execute()]);
  assert.deepEqual(
    log.filter((text) => text !== postgresServer.variables),
    ['DO 0', 'DO 0'],
  );
});

void test('a pooler is found that first gives two clients a session of the server each', async () => {
  const askOn = (...ids: number[]) => {
    const last = ids.at(-1);
    return () => Promise.resolve([{ session_id: ids.shift() ?? last }]);
  };
  assert.equal(await isPooled(postgresServer, askOn(71), askOn(72)), false);
  assert.equal(await isPooled(postgresServer, askOn(71), askOn(72, 72, 72, 72, 71)), true);
  assert.equal(await isPooled(postgresServer, askOn(71, 71, 71, 72), askOn(72)), true);
});

void test('two nodes with sessions of the same number do not count as a pooler', async () => {
  const askOn = (wsrep_node_name: string) => () =>
    Promise.resolve([
      { session_id: 71, name: 'wsrep_node_name', value: wsrep_node_name },
      { session_id: 71, name: 'PORT', value: '3306' },
    ]);
  assert.equal(await isPooled(mysqlServer, askOn('node-1'), askOn('node-2')), false);
  assert.equal(await isPooled(mysqlServer, askOn('node-1'), askOn('node-1')), true);
  assert.match(mysqlServer.variables, /'wsrep_node_name', 'hostname', 'port'/);
});

const GALERA = { wsrep_on: 'ON', tx_isolation: 'REPEATABLE-READ' };
const GROUP = {
  ...{ group_replication_group_name: 'a-b', group_replication_single_primary_mode: 'OFF' },
  transaction_isolation: 'REPEATABLE-READ',
};

const CLUSTERS = [
  {
    named: { ...GALERA, wsrep_sync_wait: '0' },
    isSet: { ...GALERA, wsrep_sync_wait: '15' },
    begin: /, SESSION wsrep_sync_wait = @@SESSION\.wsrep_sync_wait \| 7$/,
    end: 'SET SESSION wsrep_sync_wait = @cronlatch_node_wait',
    setting: / wsrep_sync_wait = 7$/,
  },
  {
    named: { ...GROUP, group_replication_consistency: 'EVENTUAL' },
    isSet: { ...GROUP, group_replication_consistency: 'BEFORE_AND_AFTER' },
    begin: /, SESSION group_replication_consistency = IF\(.+ LIKE '%AFTER', 'BEFORE_AND_AFTER', 'BEFORE'\)$/,
    end: 'SET SESSION group_replication_consistency = @cronlatch_node_wait',
    setting: / group_replication_consistency = 'BEFORE'$/,
  },
] as const;

for (const { named, isSet, begin, end, setting } of CLUSTERS) {
  const kind = Object.keys(named)[0] ?? '';

  void test(`sessions of the guard wait for their node (${kind})`, async () => {
    const { log, warnings, connections, execute } = bench(mysqlServer, { plain: variables(named) });
    await execute();
    assert.match(log[2] ?? '', begin);
    assert.deepEqual([log[3], warnings], ['DO 0', []]);
    assert.ok(connections.nodeWait);
  });

  void test(`a stronger setting of the servers stays (${kind})`, async () => {
    const { log, connections, execute } = bench(mysqlServer, { plain: variables(isSet) });
    await Promise.all([execute(), execute()]);
    assert.deepEqual(
      log.filter((text) => text.includes('@cronlatch_node_wait')),
      [],
    );
    assert.ok(connections.nodeWait);
  });

  void test(`a server that refuses this of the guard's sessions is warned of once, and used (${kind})`, async () => {
    const denied = { errno: 1227, message: 'Access denied; you need SUPER' };
    const errorOf = (text: string) => (begin.test(text) ? Object.assign(new Error(), denied) : undefined);
    const { log, warnings, connections, execute } = bench(mysqlServer, { plain: variables(named), errorOf });
    await Promise.all([execute(), execute()]);
    assert.equal(log.at(-1), 'DO 0');
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', setting);
    assert.equal(connections.nodeWait, undefined, 'a session of the application would be refused, too');
  });

  void test(`a session that is lost or does not answer while it is set up is not used (${kind})`, async () => {
    const lost = new Error(`Can't add new command when connection is in closed state`);
    const unanswered = new SqlExecutionError('the database did not answer within 5000 ms', 'sent');
    for (const failure of [lost, unanswered]) {
      let isLost = false;
      const errorOf = (text: string) => ((isLost ||= begin.test(text)) ? failure : undefined);
      const { warnings, execute } = bench(mysqlServer, { plain: variables(named), errorOf });
      await assert.rejects(execute(), { message: failure.message });
      assert.deepEqual(warnings, []);
    }
  });

  void test(`the session of a transaction waits for its node, and gets its setting back (${kind})`, async () => {
    const sent: string[] = [];
    const session = {
      send: ({ text }: { readonly text: string }) => {
        sent.push(text);
        return Promise.resolve({ rows: [], affectedRows: 0, insertId: 0, inTransaction: true });
      },
      ...{ onEnd: () => {}, end: () => {}, destroy: () => {} },
    };
    const limits = { clock: systemClock, statementTimeoutMs: 5000 };
    const { idleLimit, ...transaction } = serverTransaction(session, mysqlServer, limits);
    const settings = new ChangedSettings(transaction);
    const wait = mysqlServer.nodeWait?.(named);
    assert.ok(wait);
    await settings.change(wait);
    await settings.change({ begin: idleLimit.begin(1000), end: idleLimit.end });
    await settings.restore();
    assert.match(sent[0] ?? '', begin);
    assert.deepEqual([sent.length, sent[2], sent[3]], [4, end, mysqlServer.idleLimit.end]);
  });
}

void test('a group with a single primary needs no wait, and neither does a server alone', () => {
  const single = { ...GROUP, group_replication_single_primary_mode: 'ON' };
  for (const named of [single, { wsrep_on: 'OFF' }, {}])
    assert.equal(mysqlServer.nodeWait?.(named), undefined);
});

void test('the isolation level is set by the name that the server has', () => {
  assert.match(mysqlServer.sessionSettings(5000, GALERA)[0] ?? '', /^SET tx_isolation = 'READ-COMMITTED', /);
  assert.match(
    mysqlServer.sessionSettings(5000, GROUP)[0] ?? '',
    /^SET transaction_isolation = 'READ-COMMITTED', /,
  );
});
