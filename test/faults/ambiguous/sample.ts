import type { DataSource } from 'typeorm';
import type { StatementKind } from '../../support/faults/sql-proxy/sql-proxy';
import type { ProxiedProcess } from './ambiguous-bench';
import type { Outcome, Verdict } from './verdict';

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
