import type { Scene } from './kill-inside-run';
import { appendLine, type LineOf } from './witness';

/** Kills the worker that runs the second attempt of the job of the day. */
export async function killInsideDay(
  victim: string,
  { crew, witnessFile, day }: Scene,
): Promise<LineOf<'day-killed'>> {
  if (day === undefined)
    throw new Error(`${victim} should be killed in the job of the day, which does not exist.`);
  await crew.kill(victim);
  const at = Date.now();
  const line = { event: 'day-killed', worker: victim, scheduledAt: day.at.getTime(), at } as const;
  appendLine(witnessFile, line);
  return line;
}
