import type { Random } from '#cronlatch/contracts/random';
import { isLockServer, type CampaignServer } from '../options';
import type { Place } from '../place';
import type { Squad } from '../squad/squad';

/** The fault, its target and its duration, in the machine's time. */
export interface Injection {
  readonly kind: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** The worker that is the target. */
  readonly worker?: number | undefined;
  /** The lock that is the target. */
  readonly name?: string | undefined;
}

export interface Field {
  readonly place: Place;
  readonly squad: Squad;
  readonly random: Random;
  /** Aborts when no further fault may start. */
  readonly over: AbortSignal;
  /** Records a fault after it has ended. */
  readonly note: (injection: Injection) => void;
}

export interface Fault {
  readonly kind: string;
  /** On average. */
  readonly everyMs: number;
  readonly isFor: (server: CampaignServer) => boolean;
  /** Another fault of this kind waits for its end. */
  readonly isAlone?: boolean;
  /** Resolves when the fault is undone, or needs no further action. */
  strike(field: Field): Promise<void>;
}

export const everywhere = (): boolean => true;
export const onServers = (server: CampaignServer): boolean => server !== 'sqlite';
export const onDatabases = (server: CampaignServer): boolean => onServers(server) && !isLockServer(server);
export const onEnsembles = (server: CampaignServer): boolean => isLockServer(server) && server !== 'redis';
export const onSingleServers = (server: CampaignServer): boolean => onServers(server) && !onEnsembles(server);
