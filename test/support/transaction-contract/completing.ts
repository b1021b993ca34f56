import assert from 'node:assert/strict';
import { after } from 'node:test';
import { ClaimLostError, InvalidLockUseError, RunAlreadyCompletedError, type JobGuard } from 'cronlatch';
import { closing } from '../benches/closing';
import { askedDatabase, testOnKind, type AskedDatabase } from '../databases/asked';
import { DATABASE_NAMES, SERVER_NAMES, type DatabaseName } from '../databases/fresh';
import { onStores } from '../servers/test-on';
import type { Library, OwnTransaction } from './application';

/** Quotes, escapes and placeholders of all libraries, and characters of four bytes. */
const TEXT = String.raw`O'Brien: "ça" \ \' ? ?? $1 :name %s {} 💶 -- /* */`;

type Open = (database: AskedDatabase) => Promise<Library>;

/** What the cases of one library share on one database: each has a job of its own. */
class CompletionBench {
  readonly failures: unknown[] = [];
  #lastId = 0;

  private constructor(
    readonly library: Library,
    readonly database: AskedDatabase,
    readonly guard: JobGuard,
    private readonly open: Open,
  ) {
    guard.on('run:failed', ({ error }) => void this.failures.push(error));
  }

  static async on(kind: DatabaseName, open: Open): Promise<CompletionBench> {
    const database = await askedDatabase(kind);
    await database.createTables();
    const charset = kind === 'postgres' || kind === 'sqlite' ? '' : ' CHARACTER SET utf8mb4';
    await database.ask(`CREATE TABLE effects (id INTEGER PRIMARY KEY, text VARCHAR(200) NOT NULL)${charset}`);
    const library = await open(database);
    const guard = await library.createJobGuard({ pollInterval: false, logger: false });
    return new CompletionBench(library, database, guard, open);
  }

  /** The first tick of a job of its own. */
  async run(handler: (id: number) => Promise<unknown>): Promise<FirstOutcome> {
    const id = ++this.#lastId;
    const thrown = await thrownBy(this.again(id, () => handler(id)));
    return { id, thrown, ...(await this.outcomeOf(id)) };
  }

  /** Another tick of a job. */
  again(id: number, handler: () => Promise<unknown>): Promise<unknown> {
    const oncePer = { period: () => 'today', timeZone: 'UTC', retry: { maxAttempts: 9, initialDelay: 0 } };
    return this.guard.run({ name: nameOf(id), lockAtMostFor: '1m', oncePer }, handler);
  }

  async outcomeOf(id: number): Promise<Outcome> {
    const run = await this.guard.ledger.last(nameOf(id));
    assert.ok(run);
    const { state, result, reason, attempt } = run;
    const [effect] = await this.database.ask(`SELECT text FROM effects WHERE id = ${id}`);
    const history = (await this.guard.ledger.history(run)).map(({ kind }) => kind);
    return { state, result, reason, attempt, history, effect: effect?.['text'] };
  }

  /** One tick whose handler is a transaction: the effect, and then more. */
  async transact(more: (transaction: OwnTransaction, id: number) => Promise<void>): Promise<FirstOutcome> {
    return await this.run((id) =>
      this.library.transaction(async (transaction) => {
        await transaction.insert(id, TEXT);
        await more(transaction, id);
      }),
    );
  }

  /** The effect of a job and its completion, which are then rolled back. */
  async rollBack(id: number): Promise<unknown> {
    return await this.library.transaction(async ({ insert, complete }) => {
      await insert(id, TEXT);
      await complete({ result: 'done' });
      throw new Error('no bank today');
    });
  }

  /** Another process changes the row of the run. */
  async write(id: number, assignments: string): Promise<void> {
    await this.database.ask(
      `UPDATE cronlatch_run SET ${assignments} WHERE job_name LIKE 'jour d''été ${id} %'`,
    );
  }

  /** The library in another database, whose tables are missing until `use` creates them. */
  async elsewhere(
    kind: DatabaseName,
    use: (library: Library, database: AskedDatabase) => Promise<unknown>,
  ): Promise<void> {
    await using database = closing(await askedDatabase(kind));
    await using library = closing(await this.open(database));
    await use(library, database);
  }

  /** The library on another name of the same host. */
  async byOtherName(use: (library: Library) => Promise<unknown>): Promise<void> {
    const url = this.database.url.replace('127.0.0.1', 'localhost');
    const options = { ...this.database.options, url } as AskedDatabase['options'];
    await using library = closing(await this.open({ ...this.database, url, options }));
    await use(library);
  }

  async close(): Promise<void> {
    await this.guard.close();
    await this.library.close();
    await this.database.dispose();
  }
}

interface Outcome {
  readonly state: string;
  readonly result: string | undefined;
  readonly reason: string | undefined;
  readonly attempt: number;
  readonly history: readonly string[];
  readonly effect: unknown;
}

type FirstOutcome = Outcome & { readonly id: number; readonly thrown: unknown };

function thrownBy(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function nameOf(id: number): string {
  return `jour d'été ${id} "€" ? $1`;
}

interface CompletionCase {
  readonly on?: readonly DatabaseName[];
  /** Only for libraries that have it. */
  readonly needs?: 'completeOutside';
  readonly run: (bench: CompletionBench) => Promise<void>;
}

const ON_MYSQL = ['mysql', 'mariadb'] as const;

/** Each database of the server is right on MySQL, so the wrong one is on another server. */
function otherThan(kind: DatabaseName): DatabaseName {
  if (kind === 'mysql') return 'mariadb';
  return kind === 'mariadb' ? 'mysql' : kind;
}

const ENDED = /^Cannot complete the run of job 'jour .*its transaction has already ended.*is not retried/;

function assertRefused(thrown: unknown, message: RegExp): asserts thrown is InvalidLockUseError {
  assert.ok(thrown instanceof InvalidLockUseError, String(thrown));
  assert.match(thrown.message, message);
}

/** What each library must keep that opens transactions in which a job completes its run. */
const CASES: Readonly<Record<string, CompletionCase>> = {
  'effects and completion commit together, once, and with every value unchanged': {
    async run(bench) {
      const { id, ...outcome } = await bench.transact(async ({ complete }) => {
        await complete({ result: { text: TEXT } });
        await assert.rejects(complete(), RunAlreadyCompletedError);
      });
      const completed = { state: 'completed', reason: undefined, attempt: 1, history: [] };
      const result = JSON.stringify({ text: TEXT });
      assert.deepEqual(outcome, { ...completed, thrown: undefined, result, effect: TEXT });
      const again = await bench.again(id, () => assert.fail());
      assert.deepEqual(again, { executed: false, reason: 'already-completed' });
    },
  },

  'a rollback undoes the effects and the completion': {
    async run(bench) {
      const { thrown, state, result, effect } = await bench.run((id) => bench.rollBack(id));
      assert.match(String(thrown), /no bank today/);
      assert.deepEqual([state, result, effect], ['failed', undefined, undefined]);
    },
  },

  'a transaction that the job rolled back has completed nothing, and the error reports it': {
    async run(bench) {
      const first = await bench.run((id) => bench.rollBack(id).catch(() => 'done'));
      assert.ok(first.thrown instanceof ClaimLostError, String(first.thrown));
      const message =
        /^The transaction that completed the run of job 'jour .* was not committed, so the attempt counts as failed/;
      assert.match(first.thrown.message, message);
      assert.ok(bench.failures.includes(first.thrown));
      assert.deepEqual([first.state, first.effect, first.history], ['failed', undefined, ['failed']]);
      await bench.again(first.id, () => bench.library.transaction(({ complete }) => complete()));
      const { state, attempt } = await bench.outcomeOf(first.id);
      assert.deepEqual([state, attempt], ['completed', 2]);
    },
  },

  'a completion outside the run is refused': {
    async run({ library }) {
      const outside = await thrownBy(library.transaction(({ complete }) => complete()));
      assertRefused(outside, /^completeRunIn\(\) was called outside the run/);
    },
  },

  'a completion outside a transaction fails the run permanently, because its writes are committed': {
    needs: 'completeOutside',
    async run(bench) {
      const { thrown, state, reason } = await bench.run(
        () => bench.library.completeOutside?.() ?? assert.fail(),
      );
      assertRefused(thrown, ENDED);
      assert.deepEqual([state, reason], ['failed', 'fatal']);
    },
  },

  'a completion after the end of the transaction fails the run permanently': {
    needs: 'completeOutside',
    async run(bench) {
      const { id, thrown, ...outcome } = await bench.transact(async ({ complete, commitBehind }) => {
        await commitBehind();
        await complete();
      });
      assertRefused(thrown, ENDED);
      assert.deepEqual([outcome.state, outcome.reason, outcome.effect], ['failed', 'fatal', TEXT]);
      const again = await bench.again(id, () => assert.fail());
      assert.deepEqual(again, { executed: false, reason: 'exhausted' });
    },
  },

  'a run that another instance has taken over is not completed': {
    async run(bench) {
      const { thrown, state, effect } = await bench.run((id) =>
        bench.library.transaction(async ({ insert, complete }) => {
          await bench.write(id, `claimed_by = 'another', attempt = 2`);
          await insert(id, TEXT);
          await complete();
        }),
      );
      assert.ok(thrown instanceof ClaimLostError, String(thrown));
      assert.match(thrown.message, /no longer counts: its row is running, generation 0, attempt 2/);
      assert.deepEqual([state, effect], ['running', undefined]);
    },
  },

  'a run that was marked as interrupted is completed late': {
    async run(bench) {
      const { thrown, state, reason, result, effect, history } = await bench.run((id) =>
        bench.library.transaction(async ({ insert, complete }) => {
          await bench.write(id, `state = 'interrupted', reason = 'lease-ended'`);
          await insert(id, TEXT);
          await complete({ result: TEXT });
        }),
      );
      assert.deepEqual([thrown, state, reason], [undefined, 'completed', undefined]);
      assert.deepEqual(history, ['completed-late']);
      assert.deepEqual([result, effect], [JSON.stringify(TEXT), TEXT]);
    },
  },

  'a completion after a deadlock is refused, if the job caught the error': {
    on: ON_MYSQL,
    async run(bench) {
      const { ask } = bench.database;
      const { thrown, state, effect } = await bench.transact(async ({ insert, complete }, id) => {
        await ask('START TRANSACTION');
        // The database rolls back the transaction that has written fewer rows.
        await ask(`INSERT INTO effects VALUES (1001, ''), (1002, ''), (1003, ''), (1004, '')`);
        const waiting = ask(`INSERT INTO effects VALUES (${id}, '')`);
        await assert.rejects(async () => insert(1001, TEXT), 'there was no deadlock');
        await waiting;
        await ask('ROLLBACK');
        await complete();
      });
      assertRefused(thrown, ENDED);
      assert.deepEqual([state, effect], ['failed', undefined]);
    },
  },

  'a completion after a failed statement is refused, if the job caught the error': {
    on: ['postgres'],
    async run(bench) {
      const { thrown, state, reason, effect } = await bench.transact(async ({ insert, complete }, id) => {
        await assert.rejects(async () => insert(id, TEXT), 'the key exists');
        await complete();
      });
      assert.ok(thrown instanceof Error);
      assert.deepEqual([state, reason, effect], ['failed', undefined, undefined]);
    },
  },

  'a transaction in a database with no such run or no such table completes nothing, and the error names the right one':
    {
      async run(bench) {
        const { kind, url } = bench.database;
        const { thrown, state, effect } = await bench.run((id) =>
          bench.elsewhere(otherThan(kind), async (library, database) => {
            const complete = async (): Promise<void> => {
              const error = await thrownBy(library.transaction((transaction) => transaction.complete()));
              assertRefused(
                error,
                /has no such run\. Use a transaction in the ledger's database, \w+ (at .*127\.0\.0\.1|\()/,
              );
              assert.ok(kind === 'sqlite' || !error.message.includes(url), 'no secret of the address');
            };
            await complete();
            await database.createTables();
            await complete();
            await bench.library.transaction(async ({ insert, complete }) => {
              await insert(id, TEXT);
              await complete();
            });
          }),
        );
        assert.deepEqual([thrown, state, effect], [undefined, 'completed', TEXT]);
      },
    },

  'a transaction in another database of the same server completes the run': {
    on: ON_MYSQL,
    async run(bench) {
      const { thrown, state } = await bench.run(() =>
        bench.elsewhere(bench.database.kind, (library) => library.transaction(({ complete }) => complete())),
      );
      assert.deepEqual([thrown, state], [undefined, 'completed']);
    },
  },

  'a transaction on another name of the same host completes the run': {
    on: SERVER_NAMES,
    async run(bench) {
      const { thrown, state } = await bench.run(() =>
        bench.byOtherName((library) => library.transaction(({ complete }) => complete())),
      );
      assert.deepEqual([thrown, state], [undefined, 'completed']);
    },
  },
};

/** One test for each case and kind of database. */
export function testCompletions(
  libraryName: string,
  open: Open,
  {
    on = DATABASE_NAMES,
    lacks = [],
  }: { on?: readonly DatabaseName[]; lacks?: readonly CompletionCase['needs'][] } = {},
): void {
  const opened = new Map<DatabaseName, Promise<CompletionBench>>();
  after(async () => {
    for (const bench of opened.values()) await (await bench).close();
  });
  const benchOn = (kind: DatabaseName): Promise<CompletionBench> => {
    const bench = opened.get(kind) ?? CompletionBench.on(kind, open);
    opened.set(kind, bench);
    return bench;
  };
  for (const [caseName, { on: kinds = on, needs, run }] of Object.entries(CASES)) {
    if (needs !== undefined && lacks.includes(needs)) continue;
    const name = `${libraryName}: ${caseName}`;
    const possible = kinds.filter((kind) => on.includes(kind));
    onStores(possible, name, (kind) => testOnKind(kind, name, async () => run(await benchOn(kind))));
  }
}
