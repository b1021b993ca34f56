import { setTimeout } from 'node:timers/promises';
import type { Row } from './rows';
import type { Crew, Member } from './crew';

/** Applies the faults of the row that the processes do not cause themselves. Resolves after the last blow. */
export async function strike(row: Row, crew: Crew, slots: readonly number[]): Promise<void> {
  const { blow } = row;
  switch (blow.kind) {
    case 'skew':
    case 'block':
    case 'none':
      return;
    case 'kill': {
      const slotMs = slots[blow.atFire] ?? NaN;
      const winner = await firstToReport('begin', crew, slotMs);
      await setTimeout(row.jobMs / 3);
      if (winner !== undefined) crew.strike(winner, 'kill', slotMs);
      return;
    }
    case 'stop':
      for (const slotMs of slots) {
        const first = await firstToReport('fired', crew, slotMs);
        if (first !== undefined) crew.strike(first, 'stop', slotMs);
        // The other process's delay has passed by then, and the next fire is still to come.
        await setTimeout(slotMs + row.everyS * 1000 - 1000 - Date.now());
        if (first !== undefined) crew.sendOne(first, { word: 'resume' });
      }
      return;
    case 'execute':
      for (const slotMs of slots) {
        const first = await firstToReport('begin', crew, slotMs);
        const other = crew.members.find((member) => member !== first);
        if (first !== undefined && other !== undefined) crew.strike(other, 'execute', slotMs);
      }
  }
}

/** @returns `undefined` if no process does in time: then there is no blow, and the verdict reports that */
async function firstToReport(
  event: 'fired' | 'begin',
  crew: Crew,
  slotMs: number,
): Promise<Member | undefined> {
  const withinMs = slotMs - Date.now() + 30_000;
  const reports = crew.members.map(async (member) => {
    await member.child.received(event, { matching: (message) => message.slotMs === slotMs, withinMs });
    return member;
  });
  return await Promise.any(reports).catch(() => undefined);
}
