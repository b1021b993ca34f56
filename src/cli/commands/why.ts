import type { Command } from 'commander';
import type { JobGuard } from '../../guard';
import type { WhenOfJob } from '../../operations/overview';
import { readWhy } from '../../operations/why';
import { addGuardCommand, withGuard } from '../guard-command';
import { dayAround } from '../../ledger/expected';
import { fixedScopeOf } from '../../ledger/policy/job-policy';
import { JobCatalog } from '../../operations/job-catalog';
import { startOf, type Options } from '../options';
import {
  printAdvice,
  printJson,
  printText,
  printWarning,
  timesOf,
  whenInWhole,
  withCommands,
  zoneFor,
} from '../terminal';

type WhyOptions = Options & { readonly at?: string };

/** `cronlatch why`: what keeps a job from running now, also a job that has only a lock. */
export function addWhyCommand(program: Command): void {
  addGuardCommand(program, 'why <job>', 'explain why a job does not run now')
    .option('--scope <scope>', 'the scope, if the job has scopes')
    .option('--at <when>', 'explain a tick: of a business date, of an instant, or now')
    .action(
      withGuard(async (guard, options: WhyOptions, job = '') => {
        await (options.at === undefined ? explainWhy : explainTick)(guard, options, job);
      }),
    );
}

/** What should have happened at a time, what did, and what a tick of that time would do now. */
async function explainTick(guard: JobGuard, { at: when, scope: given, json }: WhyOptions, job: string) {
  const jobs = await JobCatalog.of(guard);
  const { policy, expectation } = jobs.periodicJob(job);
  const scope = given ?? fixedScopeOf(policy);
  const start = when === 'now' ? undefined : startOf(when ?? '', '--at', policy.period);
  const isDate = start !== undefined && !/[T ]/.test(when ?? '');
  const ofDate = isDate ? expectation.schedule?.firstIn(dayAround(start, policy.period)) : undefined;
  const explanation = await jobs.ledger.explain(job, {
    at: ofDate ?? start,
    scope,
    timeZone: zoneFor(policy.period.timeZone),
  });
  if (json) return printJson('why', { job, scope, ...explanation });
  printText(explanation.text);
}

async function explainWhy(guard: JobGuard, { scope, json }: WhyOptions, job: string): Promise<void> {
  const shortly: WhenOfJob = (instant, { timeZone, now }) => timesOf([timeZone], now).when(instant);
  const why = await readWhy(guard, job, { scope, when: json ? whenInWhole : shortly });
  const { obstacles, running, past, missed, tick, record, lock, newestRun, nextScheduledAt, runsUnknown } =
    why;
  if (runsUnknown) printWarning(`The runs are unknown. ${runsUnknown.message}`);
  if (json) {
    const [ofMissed] = withCommands(missed ? [missed] : []);
    const answers = { obstacles: withCommands(obstacles), missed: ofMissed };
    return printJson('why', { job, ...answers, lock, newestRun, nextScheduledAt });
  }
  printText(`${job} · ${timesOf([why.timeZone], why.now).head}`, 'bold');
  if (running) printText(running, 'green');
  for (const obstacle of obstacles) printAdvice(obstacle);
  if (obstacles.length === 0) printText('Nothing keeps it from running.');
  for (const answer of [past, missed, tick]) if (answer) printAdvice(answer);
  if (record) printText(record);
}
