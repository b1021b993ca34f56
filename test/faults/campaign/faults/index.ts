import { setTimeout } from 'node:timers/promises';
import type { Fault, Field } from './fault';
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

/** Injects faults at random until `over` aborts; resolves when all of them are undone. */
export async function strikeUntilOver(faults: readonly Fault[], field: Field): Promise<void> {
  await Promise.all(faults.map((fault) => strikeBy(fault, field)));
}

async function strikeBy(fault: Fault, field: Field): Promise<void> {
  const { random, over } = field;
  const strikes = new Set<Promise<void>>();
  for (;;) {
    await restFor(random.integer(0, 2 * fault.everyMs), over);
    if (over.aborted) break;
    const strike: Promise<void> = fault.strike(field).finally(() => strikes.delete(strike));
    strikes.add(strike);
    if (fault.isAlone) await strike;
  }
  await Promise.all(strikes);
}

async function restFor(ms: number, over: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal: over });
  } catch (error) {
    if (!over.aborted) throw error;
  }
}
