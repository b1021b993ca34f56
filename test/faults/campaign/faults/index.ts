import type { DatabaseName } from '../../../support/databases';
import type { Fault } from './fault';
import { TO_CONNECTIONS } from './to-connections';
import { TO_DATABASE } from './to-database';
import { TO_PROCESSES } from './to-processes';

/** All faults for a server of this kind. */
export function faultsOn(server: DatabaseName): Fault[] {
  return [...TO_PROCESSES, ...TO_CONNECTIONS, ...TO_DATABASE].filter(({ isFor }) => isFor(server));
}
