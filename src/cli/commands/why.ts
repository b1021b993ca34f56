import type { Command } from 'commander';
import type { JobGuard } from '../../guard';
import { readWhy } from '../../guard/operations/why';
import { addGuardCommand, withGuard } from '../guard-command';
import type { Options } from '../options';
import { at, printAdvice, printJson, printText, printWarning } from '../terminal';

/** `cronlatch why`: what keeps a job from running now, also a job that has only a lock. */
export function addWhyCommand(program: Command): void {
  addGuardCommand(program, 'why <job>', 'explain why a job does not run now')
    .option('--scope <scope>', 'the scope, if the job has scopes')
    .action(withGuard(explainWhy));
}

async function explainWhy(guard: JobGuard, { scope, json }: Options, job = ''): Promise<void> {
  const why = await readWhy(guard, job, { scope, at: (instant, timeZone) => at(instant, timeZone) ?? '-' });
  const { obstacles, running, past, missed, tick, lock, newestRun, nextScheduledAt, runsUnknown } = why;
  if (runsUnknown) printWarning(`The runs are unknown. ${runsUnknown.message}`);
  if (json) return printJson('why', { job, obstacles, missed, lock, newestRun, nextScheduledAt });
  if (running) printText(running, 'green');
  for (const { text, command } of obstacles) printAdvice(text, command);
  if (obstacles.length === 0) printText('Nothing keeps it from running.');
  if (past) printAdvice(past.text, past.command);
  if (missed) printAdvice(missed.text, missed.command);
  if (tick) printText(tick);
}
