import assert from 'node:assert/strict';
import { after } from 'node:test';
import { ClaimLostError, InvalidLockUseError, type JobConfiguration, type JobGuard } from 'cronlatch';
import type { AdaptedTransaction } from 'cronlatch/adapters';
import * as mysqlDriver from 'cronlatch/mysql2';
import * as pgDriver from 'cronlatch/pg';
import { databaseOn, SERVER_NAMES, testOn, type ServerName } from '../support/databases/fresh';

/** A transaction of a query builder, with the statements that the tests send in it. */
export interface BuilderTransaction {
  readonly adapted: AdaptedTransaction;
  insert(id: number, text: string): Promise<unknown>;
  /** Ends the transaction without the knowledge of the query builder. */
  commitBehind(): Promise<unknown>;
}

/** A query builder that is connected to one database. */
export interface Builder {
  transaction(work: (transaction: BuilderTransaction) => Promise<void>): Promise<unknown>;
  /** The query builder itself, in place of a transaction. */
  readonly outside: AdaptedTransaction;
  close(): Promise<unknown>;
}

type Open = (url: string, server: ServerName) => Builder;

/** Quotes, escapes and placeholders of all query builders, and characters of four bytes. */
const TEXT = String.raw`O'Brien: "ça" \ \' ? ?? $1 :name %s {} 💶 -- /* */`;

class AdapterBench {
  #lastId = 0;

  private constructor(
    readonly builder: Builder,
    readonly elsewhere: Builder,
    readonly guard: JobGuard,
    readonly completeRunIn: (
      transaction: AdaptedTransaction,
      options?: { readonly result?: unknown },
    ) => Promise<void>,
    readonly ask: (statement: string) => Promise<Record<string, unknown>[]>,
    readonly dispose: () => Promise<void>,
  ) {}

  static async on(server: ServerName, open: Open): Promise<AdapterBench> {
    const driver = server === 'postgres' ? pgDriver : mysqlDriver;
    const [database, other] = [await databaseOn(server), await databaseOn(server)];
    for (const { url } of [database, other]) await driver.createTables(url);
    const charset = server === 'postgres' ? '' : ' CHARACTER SET utf8mb4';
    await database.ask(`CREATE TABLE effects (id INTEGER PRIMARY KEY, text VARCHAR(200) NOT NULL)${charset}`);
    const builder = open(database.url, server);
    const elsewhere = open(other.url, server);
    const guard = await driver.createJobGuard(database.url, { pollInterval: false, logger: false });
    const dispose = async (): Promise<void> => {
      await guard.close();
      for (const each of [builder, elsewhere]) await each.close();
      for (const each of [database, other]) await each.dispose();
    };
    const ask = (statement: string): Promise<Record<string, unknown>[]> => database.ask(statement);
    return new AdapterBench(builder, elsewhere, guard, driver.completeRunIn, ask, dispose);
  }

  /** One tick of a job of its own. */
  async run(handler: (id: number) => Promise<unknown>): Promise<Outcome> {
    const id = ++this.#lastId;
    const job: JobConfiguration = {
      name: `jour d'été ${id} "€" ? $1`,
      lockAtMostFor: '1m',
      oncePer: { period: () => 'today', timeZone: 'UTC' },
    };
    const thrown = await this.guard
      .run(job, () => handler(id))
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    const run = await this.guard.ledger.last(job.name);
    const [effect] = await this.ask(`SELECT text FROM effects WHERE id = ${id}`);
    return { thrown, state: run?.state, result: run?.result, effect: effect?.['text'] };
  }
}

interface Outcome {
  readonly thrown: unknown;
  readonly state: string | undefined;
  readonly result: string | undefined;
  readonly effect: unknown;
}

/** The cases of one query builder, on each of the servers. */
export function testBuilder(builderName: string, open: Open, on: readonly ServerName[] = SERVER_NAMES): void {
  for (const server of on) {
    let opened: Promise<AdapterBench> | undefined;
    after(async () => (await opened)?.dispose());
    const testCase = (name: string, body: (bench: AdapterBench) => Promise<void>): void =>
      testOn(server, `${builderName}: ${name}`, async () =>
        body(await (opened ??= AdapterBench.on(server, open))),
      );

    testCase('effects and completion commit together, with every value unchanged', async (bench) => {
      const outcome = await bench.run((id) =>
        bench.builder.transaction(async ({ adapted, insert }) => {
          await insert(id, TEXT);
          await bench.completeRunIn(adapted, { result: { text: TEXT } });
        }),
      );
      const result = JSON.stringify({ text: TEXT });
      assert.deepEqual(outcome, { thrown: undefined, state: 'completed', result, effect: TEXT });
    });

    testCase('a rollback undoes the effects and the completion', async (bench) => {
      const outcome = await bench.run((id) =>
        bench.builder.transaction(async ({ adapted, insert }) => {
          await insert(id, TEXT);
          await bench.completeRunIn(adapted, { result: 'done' });
          throw new Error('no bank today');
        }),
      );
      assert.match(String(outcome.thrown), /no bank today/);
      assert.deepEqual([outcome.state, outcome.result, outcome.effect], ['failed', undefined, undefined]);
    });

    testCase('a completion outside a transaction is refused', async (bench) => {
      const { thrown, state } = await bench.run(() => bench.completeRunIn(bench.builder.outside));
      assertEnded(thrown);
      assert.equal(state, 'failed');
    });

    testCase('a completion after the end of the transaction is refused', async (bench) => {
      const { thrown, state, effect } = await bench.run((id) =>
        bench.builder.transaction(async ({ adapted, insert, commitBehind }) => {
          await insert(id, TEXT);
          await commitBehind();
          await bench.completeRunIn(adapted);
        }),
      );
      assertEnded(thrown);
      assert.deepEqual([state, effect], ['failed', TEXT]);
    });

    testCase('a run that another instance has taken over is not completed', async (bench) => {
      const { thrown, state, effect } = await bench.run((id) =>
        bench.builder.transaction(async ({ adapted, insert }) => {
          await insert(id, TEXT);
          await bench.ask(`UPDATE cronlatch_run SET claimed_by = 'another', attempt = 2 ${ofJob(id)}`);
          await bench.completeRunIn(adapted);
        }),
      );
      assert.ok(thrown instanceof ClaimLostError, String(thrown));
      assert.match(thrown.message, /no longer counts: its row is running, generation 0, attempt 2/);
      assert.deepEqual([state, effect], ['running', undefined]);
    });

    testCase('a run that was marked as interrupted is completed late', async (bench) => {
      const { thrown, state, result, effect } = await bench.run((id) =>
        bench.builder.transaction(async ({ adapted, insert }) => {
          await insert(id, TEXT);
          await bench.ask(`UPDATE cronlatch_run SET state = 'interrupted' ${ofJob(id)}`);
          await bench.completeRunIn(adapted, { result: TEXT });
        }),
      );
      assert.deepEqual([thrown, state, result, effect], [undefined, 'completed', JSON.stringify(TEXT), TEXT]);
    });

    if (server !== 'postgres') {
      // PostgreSQL would refuse every statement after the deadlock.
      testCase('a completion after a deadlock is refused, if the job caught the error', async (bench) => {
        const { thrown, state, effect } = await bench.run((id) =>
          bench.builder.transaction(async ({ adapted, insert }) => {
            await insert(id, TEXT);
            await bench.ask('START TRANSACTION');
            // The database rolls back the transaction that has written fewer rows.
            await bench.ask(`INSERT INTO effects VALUES (1001, ''), (1002, ''), (1003, ''), (1004, '')`);
            const waiting = bench.ask(`INSERT INTO effects VALUES (${id}, '')`);
            await assert.rejects(async () => insert(1001, TEXT), 'there was no deadlock');
            await waiting;
            await bench.ask('ROLLBACK');
            await bench.completeRunIn(adapted);
          }),
        );
        assertEnded(thrown);
        assert.deepEqual([state, effect], ['failed', undefined]);
      });
      // The statements name the ledger's database, so a transaction in any database of the server is right.
      continue;
    }

    for (const has of ['no such run', 'no such table'] as const)
      testCase(
        `a transaction in a database with ${has} completes nothing, and the error names the right one`,
        async (bench) => {
          const { thrown, state } = await bench.run(() =>
            bench.elsewhere.transaction(async ({ adapted }) => {
              if (has === 'no such table') await adapted.run('DROP TABLE cronlatch_run CASCADE', []);
              await bench.completeRunIn(adapted);
            }),
          );
          assert.ok(thrown instanceof InvalidLockUseError, String(thrown));
          assert.match(
            thrown.message,
            /has no such run\. Use a transaction in the ledger's database, .*127\.0\.0\.1/,
          );
          assert.equal(state, 'failed');
        },
      );
  }
}

function ofJob(id: number): string {
  return `WHERE job_name LIKE 'jour d''été ${id} %'`;
}

function assertEnded(thrown: unknown): void {
  assert.ok(thrown instanceof InvalidLockUseError, String(thrown));
  assert.match(thrown.message, /its transaction has already ended/);
}
