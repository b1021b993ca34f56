import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Type } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { OncePer, SchedulerLock, type GuardConfiguration } from 'cronlatch';
import { periodAt } from 'cronlatch/calendar';
import { scheduleLocked } from 'cronlatch/node-cron';
import { operations } from 'cronlatch/operations';
import { startWith } from '../integrations/nestjs/application';
import { DAY_MS, testOperated, type Operated } from './operated';
import { started } from './started';

const HOUR_MS = 3_600_000;
const NOW = new Date();
/** No tick is due within some minutes. */
const MINUTE = (NOW.getUTCMinutes() + 30) % 60;

type Kind = 'lock' | 'tick' | 'hour' | 'day' | 'week' | 'month';
interface Ticks {
  readonly expression: string;
  readonly isAt: (date: Date) => boolean;
}

const isWeekday = (date: Date): boolean => date.getUTCDay() % 6 > 0;
const atThree = (isOn: (date: Date) => boolean) => (date: Date) => date.getUTCHours() === 3 && isOn(date);
const TICKS: Readonly<Record<Kind, Ticks>> = {
  lock: { expression: `${MINUTE} 3 * * 1-5`, isAt: atThree(isWeekday) },
  tick: { expression: `${MINUTE} 3 * * 1-5`, isAt: atThree(isWeekday) },
  hour: {
    expression: `${MINUTE} 9-17 * * 1-5`,
    isAt: (date) => isWeekday(date) && date.getUTCHours() >= 9 && date.getUTCHours() <= 17,
  },
  day: { expression: `${MINUTE} 3 * * 1-5`, isAt: atThree(isWeekday) },
  week: { expression: `${MINUTE} 3 * * 1`, isAt: atThree((date) => date.getUTCDay() === 1) },
  month: { expression: `${MINUTE} 3 1 * *`, isAt: atThree((date) => date.getUTCDate() === 1) },
};
const KINDS = Object.keys(TICKS) as Kind[];

/** The scheduled times of three years, the newest first. */
function timesOf(kind: Kind): Date[] {
  const hour = Math.floor(NOW.getTime() / HOUR_MS) * HOUR_MS;
  const hours = Array.from({ length: 3 * 366 * 24 }, (_, back) => new Date(hour - back * HOUR_MS));
  const times = hours.filter(TICKS[kind].isAt).map((date) => new Date(date.getTime() + MINUTE * 60_000));
  return times.filter((time) => time <= NOW);
}

type Integration = 'node-cron' | 'nest' | 'wrap' | 'exec';
type State = 'new' | 'stopped' | 'running' | 'paused' | 'disabled';

function configurationOf(integration: Integration, kind: Kind, enabled = true) {
  const oncePer = kind === 'lock' ? undefined : { period: kind, timeZone: 'UTC' };
  return {
    name: `${integration}-${kind}`,
    lockAtMostFor: '1h',
    oncePer,
    enabled,
  } satisfies GuardConfiguration;
}

/** Declares a job of each kind by an integration, and ends the instance. */
async function declare(
  { url, createJobGuard }: Operated,
  integration: Integration,
  enabled: boolean,
): Promise<void> {
  if (integration === 'exec') {
    for (const kind of KINDS) assert.equal((await execCall(url, kind, ['true']).ended).status, 0);
    return;
  }
  const guard = await createJobGuard(url, { logger: false, pollInterval: false });
  for (const kind of KINDS) {
    const job = configurationOf(integration, kind, enabled);
    const { expression } = TICKS[kind];
    if (integration === 'node-cron') scheduleLocked(expression, job, () => {}, { guard, timeZone: 'UTC' });
    if (integration === 'wrap') guard.wrap(job, () => {}, { schedule: { expression, timeZone: 'UTC' } });
  }
  if (integration === 'nest')
    await (
      await startWith(
        guard,
        KINDS.map((kind) => nestJob(kind, enabled)),
      )
    ).close();
  await guard.close();
}

function nestJob(kind: Kind, enabled: boolean): Type {
  const { oncePer, ...lock } = configurationOf('nest', kind, enabled);
  class Jobs {
    async job(): Promise<void> {}
  }
  const decorators: unknown[] = [Cron(TICKS[kind].expression, { timeZone: 'UTC' }), SchedulerLock(lock)];
  if (oncePer) decorators.push(OncePer(oncePer.period, { timeZone: 'UTC' }));
  const descriptor = Object.getOwnPropertyDescriptor(Jobs.prototype, 'job');
  const decorated = Reflect.decorate(decorators as MethodDecorator[], Jobs.prototype, 'job', descriptor);
  Object.defineProperty(Jobs.prototype, 'job', decorated ?? {});
  return Jobs;
}

function execCall(url: string, kind: Kind, command: readonly string[]) {
  const oncePer = kind === 'lock' ? [] : ['--once-per', kind];
  const job = ['--name', `exec-${kind}`, '--at-most', '1h', '--time-zone', 'UTC', ...oncePer];
  const cron = ['--cron', TICKS[kind].expression, '--scheduled-at', timesOf(kind)[0]!.toISOString()];
  return started(['exec', ...job, ...cron, '--', ...command], { DATABASE_URL: url });
}

/** As if the jobs had been declared two years ago, and had answered no tick since the one with this index. */
async function stopAt({ guard, query }: Operated, integration: Integration, index: number): Promise<void> {
  const us = (date: Date): number => date.getTime() * 1000;
  const declaredAt = new Date(NOW.getTime() - 730 * DAY_MS);
  for (const table of ['cronlatch_run', 'shedlock']) await query(`DELETE FROM ${table}`);
  for (const kind of KINDS) {
    const { name, lockAtMostFor, oncePer } = configurationOf(integration, kind);
    const scheduledAt = timesOf(kind)[index]!;
    await query(
      `UPDATE cronlatch_job SET declared_at = ${us(declaredAt)}, answered_at = ${us(scheduledAt)} WHERE job_name = '${name}'`,
    );
    if (oncePer === undefined) continue;
    await guard.run({ name, lockAtMostFor, oncePer, scheduledAt }, () => {});
    const columns = ['created_at', 'updated_at', 'started_at', 'finished_at'];
    const moved = columns.map((column) => `${column} = ${us(scheduledAt)}`).join(', ');
    await query(`UPDATE cronlatch_run SET ${moved} WHERE job_name = '${name}'`);
  }
}

/** What an operator should read about a job. */
function expectedProblems(name: string, kind: Kind, state: State, unanswered: number): string[] {
  if (state === 'new' || state === 'disabled') return [];
  const late = state === 'paused' ? [] : [`Job '${name}' is late`];
  const keys: string[] = [];
  if (kind !== 'lock' && kind !== 'tick') {
    const keyOf = (date: Date): string => periodAt(date, { kind, timeZone: 'UTC' }).key;
    const times = timesOf(kind);
    const ended = times.filter((time) => keyOf(time) !== keyOf(NOW));
    const isReported = (time: Date): boolean =>
      time.getTime() >= NOW.getTime() - 7 * DAY_MS || keyOf(time) === keyOf(ended[0]!);
    const missed = times.slice(0, unanswered).filter((time) => ended.includes(time) && isReported(time));
    keys.push(...new Set(missed.toReversed().map(keyOf)));
  }
  const more = keys.length > 1 ? ` and ${keys.length - 1} more` : '';
  return [...late, ...(keys.length > 0 ? [`Job '${name}' has missed ${keys[0]}${more}. To run them`] : [])];
}

async function checked({ call }: Operated): Promise<{ status: number; problems: Map<string, string[]> }> {
  const { stdout, status } = await call('status --check --json');
  const { jobs } = JSON.parse(stdout) as { jobs: { job: string; problems: { text: string }[] }[] };
  const textsOf = ({ problems }: (typeof jobs)[number]) =>
    problems.map(({ text }) => text.replace(/:.*/, ''));
  return { status, problems: new Map(jobs.map((job) => [job.job, textsOf(job)])) };
}

const CASES: readonly (readonly [state: State, unanswered: number])[] = [
  ['new', 0],
  ['stopped', 2],
  ['stopped', 20],
  ['paused', 1],
  ['disabled', 20],
];
for (const integration of ['node-cron', 'nest', 'wrap', 'exec'] as const) {
  for (const [state, unanswered] of CASES) {
    if (integration === 'exec' && state === 'disabled') continue; // It has no such option.
    testOperated(
      `status --check of jobs by ${integration}: ${state}, ${unanswered} ticks unanswered`,
      async (bench) => {
        await declare(bench, integration, state !== 'disabled');
        if (state !== 'new') await stopAt(bench, integration, unanswered);
        const by = { actor: 'anna', reason: 'a move' };
        if (state === 'paused')
          for (const kind of KINDS)
            await operations(bench.guard).pause({ lock: configurationOf(integration, kind).name }, by);
        const expected = KINDS.map((kind): [string, string[]] => {
          const { name } = configurationOf(integration, kind);
          return [name, expectedProblems(name, kind, state, unanswered)];
        });
        const { status, problems } = await checked(bench);
        assert.deepEqual(
          KINDS.map((kind) => [`${integration}-${kind}`, problems.get(`${integration}-${kind}`)]),
          expected,
        );
        assert.equal(status, expected.some(([, texts]) => texts.length > 0) ? 5 : 0);
      },
    );
  }

  testOperated(
    `status --check of jobs by ${integration} while they answer the newest tick`,
    async (bench) => {
      await declare(bench, integration, true);
      await stopAt(bench, integration, 1);
      const end = new AbortController();
      const ended = once(end.signal, 'abort');
      const calls = KINDS.map((kind) => {
        const configuration = { ...configurationOf(integration, kind), scheduledAt: timesOf(kind)[0] };
        if (integration === 'exec') {
          const call = execCall(bench.url, kind, ['sh', '-c', 'echo started; exec sleep 30']);
          end.signal.addEventListener('abort', () => call.kill('SIGTERM'));
          return { entered: call.printed('started'), ended: call.ended };
        }
        let enter = (): void => {};
        const entered = new Promise<void>((resolve) => (enter = resolve));
        const task = async (): Promise<void> => {
          enter();
          await ended;
        };
        return { entered, ended: bench.guard.run(configuration, task) };
      });
      for (const { entered } of calls) await entered;
      const { problems } = await checked(bench);
      end.abort();
      for (const call of calls) await call.ended;
      assert.deepEqual(
        KINDS.flatMap((kind) => problems.get(`${integration}-${kind}`)),
        [],
      );
    },
  );
}
