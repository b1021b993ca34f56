import { setTimeout } from 'node:timers/promises';
import { machineMs } from '../../test/processes/machine-time';
import type { Story } from './story';
import type { Row } from './rows';
import type { InstanceOrders } from './orders';
import { scheduleOf } from './slots';
import { Crew } from './crew';
import { isSettled, LEAD_MS } from './settling';
import { strike } from './strike';

/** How long before the fire after the last one the schedule stops. */
const STOP_BEFORE_MS = 300;

/** Runs a row with two processes, and returns what happened until it has settled. */
export async function runSide(orders: Omit<InstanceOrders, 'instance'>): Promise<Story> {
  const { row, side } = orders;
  const crew = new Crew(orders);
  try {
    await Promise.race([crew.ready(), crew.casualty]);
    const slots = scheduleOf(row, side).slotsFrom(Date.now(), LEAD_MS, row.fires);
    crew.send({ word: 'start', slots });
    const through = Promise.all([strike(row, crew, slots), untilSettled(row, crew, slots)]);
    await Promise.race([through, crew.casualty]);
    return crew.story(slots);
  } finally {
    await crew.end();
  }
}

async function untilSettled(row: Row, crew: Crew, slots: readonly number[]): Promise<void> {
  const overInMs = (slots.at(-1) ?? NaN) + row.everyS * 1000 - Date.now();
  const overMs = machineMs() + overInMs;
  let isStopped = false;
  while (!isSettled(crew.story(slots), machineMs(), overMs)) {
    await setTimeout(100);
    if (crew.isEnded) return;
    if (isStopped || machineMs() < overMs - STOP_BEFORE_MS) continue;
    crew.send({ word: 'stop' });
    isStopped = true;
  }
}
