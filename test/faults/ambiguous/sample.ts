import type { DataSource } from 'typeorm';
import type { StatementKind } from '../../support/faults/sql-proxy/sql-proxy';
import type { ProxiedProcess } from './proxied-process';

/**
 * What the library reported of a statement, compared with the tables: right, wrong, or an error that calls
 * the outcome unknown and leaves nothing behind that blocks another instance.
 */
export type Verdict = 'right' | 'wrong' | 'unresolved';

export type Outcome<T> = { readonly value: T } | { readonly error: unknown };

export async function settle<T>(answer: Promise<T>): Promise<Outcome<T>> {
  return await answer.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}

/**
 * To be called when the library has returned.
 *
 * @throws what the library threw, or an error of its own, if the fault has not happened yet
 */
export type Fault = (answer: Outcome<unknown>) => void;

/** What one trial works with. */
export interface Scene extends ProxiedProcess {
  /** Reads the result past the proxy. */
  readonly operator: DataSource;
  /** Used by this trial alone. */
  readonly name: string;
  /** Arms a fault for the next statement of the kind. */
  readonly fault: () => Fault;
}

/** One use of the library that a fault meets. */
export interface Sample {
  readonly what: string;
  readonly kind: StatementKind;
  readonly judge: (scene: Scene) => Promise<Verdict>;
}
