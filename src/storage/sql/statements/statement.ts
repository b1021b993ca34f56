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

  /** Makes the statements of a table of their texts, and each of them once. There are few different ones. */
  static byText(placeholder: (position: number) => string): (text: string) => NamedStatement {
    const statements = new Map<string, NamedStatement>();
    return (text) => {
      const statement = statements.get(text) ?? new NamedStatement(text, placeholder);
      statements.set(text, statement);
      return statement;
    };
  }

  bind(parameters: Parameters): SqlStatement {
    const values = this.#names.map((name) => requireValue(parameters[name], name));
    return { id: this.#id, text: this.#text, values };
  }

  /** Binds parameters that end in the number of a member. Members that are missing at the end repeat the last one. */
  bindMembers(members: readonly Parameters[]): SqlStatement {
    this.#places ??= this.#names.map((name) => {
      const [, key = '', number] = /^(.*?)(\d+)$/.exec(name) ?? [];
      return { key, number: Number(number) };
    });
    const last = members.length - 1;
    const values = this.#places.map(({ key, number }) =>
      requireValue(members[Math.min(number, last)]?.[key], key),
    );
    return { id: this.#id, text: this.#text, values };
  }
}

function requireValue(value: SqlValue | undefined, name: string): SqlValue {
  if (value === undefined) throw new TypeError(`Parameter :${name} has no value.`);
  return value;
}

/** Durations are sent as whole microseconds. */
export function microseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000);
}

/** By the names of the columns. */
export type SqlRow = Readonly<Record<string, unknown>>;

export interface SqlResult {
  /** The driver's count of affected rows, not yet validated. */
  readonly affectedRows: unknown;
  readonly insertId: unknown;
  readonly rows: readonly SqlRow[];
  /** `true`: the statement ran inside a transaction, so it is not committed. `undefined`: this answer does not show it. */
  readonly inTransaction?: boolean | undefined;
}

/**
 * How many rows a statement wrote. The caller refuses anything but a number. A take-over of PostgreSQL also returns the
 * row of a held lock, whose `is_taken` is null.
 */
export function writtenRows(
  { rows, affectedRows }: SqlResult,
  of: { readonly returnsRows: boolean },
): unknown {
  return of.returnsRows ? rows.filter(({ is_taken: isTaken }) => isTaken !== null).length : affectedRows;
}

/**
 * Requests of `lease` come first, because a lease depends on them: extend, unlock, resolve. Then come those of `holder`, the
 * writes of runs whose lock is held, and then all others. `release` counts as `lease`, but as `holder` while requests of
 * `holder` wait, so that releases become a group.
 */
export type Priority = 'lease' | 'release' | 'holder' | 'other';

/** How long a request may take, and when it gets its connection. */
export interface Limit extends StatementOptions {
  /** Default `other`. */
  readonly priority?: Priority | undefined;
  /** When it began to wait, on the monotonic clock. Default: now. Requests of one priority are admitted in this order. */
  readonly sinceMs?: number | undefined;
}

/** Decides a transaction's result and further statements. Synchronous and without effects: a restart calls it again. */
export type SqlDecide<T> = (result: SqlResult) => {
  readonly value: T;
  readonly statements: readonly SqlStatement[];
};

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

/** What a request may do on its connection, one after the other, and never in a transaction of the application. */
export interface SqlSession {
  /** Runs one statement in autocommit mode. By `endsAtMs` (monotonic) it has settled, and sends nothing afterwards. */
  execute(statement: SqlStatement, endsAtMs: number): Promise<SqlResult>;
  /**
   * Runs one transaction at READ COMMITTED: the first statement, the statements that `decide` returns, and COMMIT. After an
   * error it may still be open, until `rollBack` or `destroy`.
   *
   * @throws DecisionError
   */
  transaction<T>(first: SqlStatement, decide: SqlDecide<T>, endsAtMs: number): Promise<T>;
}

export interface SqlConnection extends SqlSession {
  /** @returns `true` if no transaction is open any more */
  rollBack(endsAtMs: number): Promise<boolean>;
  /** Returns it to its source. */
  release(): void;
  /** Closes it at once, even while a statement runs. */
  destroy(): void;
}

export interface ConnectionSource<Connection extends SqlConnection = SqlConnection> {
  /** How many connections it keeps. */
  readonly size: number;
  /** How many more it opens while statements wait for locked rows. */
  readonly spare?: number;
  /** Known once a connection was opened. */
  readonly nodeWait?: NodeWait | undefined;
  /** For the error of a request that waited in vain: what uses the connections, and what to do. */
  readonly whenFull?: string | undefined;
  /**
   * Returns a connection that is set up and outside a transaction, synchronously if one was used just before.
   *
   * @param limitMs of the request. A check of a connection must leave most of it.
   */
  open(limitMs: number): Connection | Promise<Connection>;
  /** `undefined` if the connections are the application's. */
  close?(): Promise<void>;
}

/** Why a statement failed. `cause` is the driver's error, `progress` how far the statement got. */
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

/** Wraps the error of `decide` until the transaction was rolled back. */
export class DecisionError extends Error {
  constructor(readonly thrown: unknown) {
    super('The decision about a transaction threw.');
  }
}

/** @throws DecisionError */
export function runDecide<T>(decide: SqlDecide<T>, result: SqlResult): ReturnType<SqlDecide<T>> {
  try {
    return decide(result);
  } catch (error) {
    throw new DecisionError(error);
  }
}
