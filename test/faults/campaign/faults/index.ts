import type { Fault } from './fault';
import { DELIVERED_LATE_KIND, TO_CONNECTIONS } from './to-connections';
import { LOCK_ROW_DELETED, TO_DATABASE } from './to-database';
import type { CampaignServer, Keeper } from '../options';
import { TO_LEADER } from './to-leader';
import { TO_PROCESSES } from './to-processes';

/** They strike the lock table or its statements, which an open transaction does not need. */
const TO_LOCK_TABLE: ReadonlySet<string> = new Set([LOCK_ROW_DELETED, DELIVERED_LATE_KIND]);

/** All faults for a server of this kind. */
export function faultsOn(server: CampaignServer, keeper: Keeper): Fault[] {
  return [...TO_PROCESSES, ...TO_CONNECTIONS, ...TO_DATABASE, ...TO_LEADER].filter(
    ({ isFor, kind }) => isFor(server) && !(keeper === 'row' && TO_LOCK_TABLE.has(kind)),
  );
}
