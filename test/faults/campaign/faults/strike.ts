import { setTimeout } from 'node:timers/promises';
import type { Fault, Field } from './fault';

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
