import type { DataSource } from 'typeorm';
import type { StatementKind } from '../../support/sql-proxy/sql-proxy';
import type { ProxiedProcess } from './ambiguous-bench';
import type { Told, Verdict } from './verdict';

/**
 * To be called when the library has answered.
 *
 * @throws whatever it has told, or an error of its own, when nothing has happened yet
 */
export type Fault = (answer: Told<unknown>) => void;

/** What one try works with. */
export interface Scene extends ProxiedProcess {
  /** Sees what has become of it. */
  readonly operator: DataSource;
  /** Of this try alone. */
  readonly name: string;
  /** Something is going to happen to the next statement of the kind. */
  readonly fault: () => Fault;
}

/** One use of the library that something happens to. */
export interface Sample {
  readonly what: string;
  readonly kind: StatementKind;
  readonly judge: (scene: Scene) => Promise<Verdict>;
}
