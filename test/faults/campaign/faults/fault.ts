import type { Random } from '#cronlatch/contracts/random';
import type { DatabaseName } from '../../../support/databases';
import type { Place } from '../place';
import type { Squad } from '../squad/squad';

/** What was done, to whom, and for how long: in the machine's time. */
export interface Injection {
  readonly kind: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** That it was done to. */
  readonly worker?: number | undefined;
  /** The lock that it was done to. */
  readonly name?: string | undefined;
}

export interface Field {
  readonly place: Place;
  readonly squad: Squad;
  readonly random: Random;
  /** From when on nobody is struck any more. */
  readonly over: AbortSignal;
  /** What was done is written down when it is over. */
  readonly note: (injection: Injection) => void;
}

export interface Fault {
  readonly kind: string;
  /** On average. */
  readonly everyMs: number;
  readonly isFor: (server: DatabaseName) => boolean;
  /** Another strike of its kind waits for its end. */
  readonly isAlone?: boolean;
  /** Resolves when it is undone, or will happen by itself. */
  strike(field: Field): Promise<void>;
}

export const everywhere = (): boolean => true;
export const onServers = (server: DatabaseName): boolean => server !== 'sqlite';
