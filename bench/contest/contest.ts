import type { BenchDatabase, BenchPlace, Server } from '../databases/bench-database';
import type { Entry } from './contender';

export interface Contest {
  /** The last part of the table's id. */
  readonly key: string;
  readonly title: string;
  readonly workers: number;
  /** One call of a contender, for the title of the table. */
  readonly unit: string;
  readonly baseline: Entry;
  readonly others: readonly Entry[];
  /** Rows that cannot be measured, with the reason. */
  readonly absent?: readonly { readonly name: string; readonly reason: string }[];
  /** Whether other programs do the same work. */
  readonly hasPeers?: boolean;
}

export interface ContestSettings {
  readonly slices: number;
  readonly sliceMs: number;
  readonly warmUpMs: number;
  /** How many calls of each contender are counted on the server. */
  readonly counted: number;
  /** A command that does the same work as the pairs. */
  readonly beside: string | undefined;
}

export interface Ground<D extends BenchPlace = BenchDatabase> {
  readonly server: Server;
  readonly database: D;
  readonly log: (line: string) => void;
}
