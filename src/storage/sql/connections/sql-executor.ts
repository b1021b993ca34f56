import { createHash } from 'node:crypto';
import type { StatementOptions } from '../../../core';

export type SqlValue = string | number | null;

/** A statement with its values, which are always bound. */
export interface SqlStatement {
  /** The name of the prepared statement. Only statements with the same text share it. Empty: it is not prepared. */
  readonly id: string;
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export type Parameters = Readonly<Record<string, SqlValue>>;

/** A statement with named parameters, such as `:owner`. */
export class NamedStatement {
  readonly #text: string;
  readonly #names: readonly string[];
  readonly #id: string;
  #places: readonly { readonly key: string; readonly number: number }[] | undefined;

  /** @param placeholder returns the driver's placeholder for the parameter at a position, counted from 1 */
  constructor(text: string, placeholder: (position: number) => string) {
    const names: string[] = [];
    // Two colons are a cast in PostgreSQL. A quoted identifier may contain anything.
    this.#text = text.replace(
      /"(?:[^"]|"")*"|`(?:[^`]|``)*`|(?<!:):([a-z][A-Za-z0-9]*)/g,
      (match, name: string | undefined) => (name === undefined ? match : placeholder(names.push(name))),
    );
    this.#names = names;
    this.#id = `cronlatch_${createHash('sha256').update(this.#text).digest('hex').slice(0, 24)}`;
  }

  bind(parameters: Parameters): SqlStatement {
    const values = this.#names.map((name) => given(parameters[name], name));
    return { id: this.#id, text: this.#text, values };
  }

  /** The same for parameters that are converted first. */
  bindConverted<V>(
    parameters: Readonly<Record<string, V>>,
    convert: (value: V | undefined) => SqlValue,
  ): SqlStatement {
    const values = this.#names.map((name) =>
      given(name in parameters ? convert(parameters[name]) : undefined, name),
    );
    return { id: this.#id, text: this.#text, values };
  }

  /** Binds parameters that end in the number of a member. Members that are missing at the end repeat the last one. */
  bindMembers(members: readonly Parameters[]): SqlStatement {
    this.#places ??= this.#names.map((name) => {
      const [, key = '', number] = /^(.*?)(\d+)$/.exec(name) ?? [];
      return { key, number: Number(number) };
    });
    const last = members.length - 1;
    const values = this.#places.map(({ key, number }) => given(members[Math.min(number, last)]?.[key], key));
    return { id: this.#id, text: this.#text, values };
  }
}

function given(value: SqlValue | undefined, name: string): SqlValue {
  if (value === undefined) throw new TypeError(`Parameter :${name} has no value.`);
  return value;
}

/** Durations are sent as whole microseconds. */
export function microseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000);
}

export interface SqlResult {
  /** The driver's count of affected rows, not yet validated. */
  readonly affectedRows: unknown;
  readonly insertId: unknown;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

export interface ExecuteOptions extends StatementOptions {
  /** Extend, unlock and resolve come first, because a lease may depend on them. */
  readonly urgent: boolean;
  /**
   * Its lock is held meanwhile, so it comes before requests for further locks. With `urgent`, it is urgent only while no
   * other request with `holdsLock` waits.
   */
  readonly holdsLock?: boolean | undefined;
  /** When it began to wait, on the monotonic clock. Default: now. Requests of one kind are admitted in this order. */
  readonly sinceMs?: number | undefined;
}

/** The result of a transaction, and the statements that follow its first one. */
export interface SqlDecision<T> {
  readonly value: T;
  readonly statements: readonly SqlStatement[];
}

/** Must be synchronous and without side effects, because a restarted transaction calls it again. */
export type SqlDecide<T> = (result: SqlResult) => SqlDecision<T>;

/** Sends a statement on the connection of its turn. */
export type SendInTurn = (statement: SqlStatement) => Promise<SqlResult>;

/** Makes the statements of a session wait until its node of a cluster has applied what others have committed. */
export interface NodeWait {
  /** For messages: the setting of the servers that does the same. */
  readonly setting: string;
  /** Whether it can begin in an open transaction. */
  readonly worksInside: boolean;
  readonly isSet: boolean;
  readonly begin: string;
  /** Restores what the session had. */
  readonly end: string;
}

/** Sends statements to a database. */
export interface SqlExecutor {
  /** Set if the server is in a cluster whose nodes all accept writes. Known after the first statement. */
  readonly nodeWait?: NodeWait | undefined;
  /** Whether a statement that is sent now gets a connection at once. */
  isFree(request: Pick<ExecuteOptions, 'urgent' | 'holdsLock'>): boolean;
  /** Runs one statement in autocommit mode, on a connection that no transaction of the application uses. */
  execute(statement: SqlStatement, options: ExecuteOptions): Promise<SqlResult>;
  /**
   * Calls `use` as soon as there is a connection for it, and keeps that until its promise settles. Each statement runs in
   * autocommit mode. All of them share one time limit.
   */
  inTurn<T>(use: (send: SendInTurn) => Promise<T>, options: ExecuteOptions): Promise<T>;
  /**
   * Runs one transaction at READ COMMITTED on such a connection: the first statement, the statements that `decide`
   * returns, and COMMIT. If anything fails, `decide` included, it rolls back.
   *
   * @throws the error of `decide`, unchanged
   */
  transaction<T>(first: SqlStatement, decide: SqlDecide<T>, options: ExecuteOptions): Promise<T>;
}

/** The error that an executor rejects with. `cause` is the driver's error, `progress` how far the statement got. */
export class SqlExecutionError extends Error {
  constructor(
    message: string,
    readonly progress: 'not-sent' | 'sent' | 'rolled-back',
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'SqlExecutionError';
  }
}

/** Wraps the error of `decide` until the executor has rolled the transaction back. */
export class DecisionError extends Error {
  constructor(readonly thrown: unknown) {
    super('The decision about a transaction threw.');
  }
}

/** @throws DecisionError */
export function runDecide<T>(decide: SqlDecide<T>, result: SqlResult): SqlDecision<T> {
  try {
    return decide(result);
  } catch (error) {
    throw new DecisionError(error);
  }
}
