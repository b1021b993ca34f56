import type { Command } from 'commander';
import type { JobGuard } from '../../guard';
import { dateOf, dayOf, mondayOf } from '../../ledger/periods/business-date';
import { UsageError } from '../failure';
import { addGuardCommand, withGuard } from '../guard-command';
import { stateCell } from '../../guard/operations/state-texts';
import { JobCatalog } from '../../guard/operations/job-catalog';
import type { Options } from '../options';
import { print, printJson, printTable, shown, type Row } from '../terminal';

const MOST = 90;

/** `cronlatch calendar`: a symbol for each business day. One statement, besides that for the register. */
export function addCalendarCommand(program: Command): void {
  addGuardCommand(program, 'calendar <job>', `show the last ${MOST} business days of a job`)
    .option('--scope <scope>', 'the scope, if the job has scopes')
    .action(withGuard(showCalendar));
}

async function showCalendar(guard: JobGuard, options: Options, job = ''): Promise<void> {
  const known = await JobCatalog.of(guard);
  const declared = known.get(job)?.declared;
  const { app, scope = declared?.scope ?? '', json } = options;
  // If only code knows the business days, they are those with a run.
  const policy = declared?.hasCalendar && app === undefined ? undefined : known.policy(job);
  if ((policy?.period.kind ?? declared?.kind) !== 'day')
    throw new UsageError(`Job '${job}' does not run once per day. cronlatch history lists its runs.`);
  const runs = await known.ledger.list({ job, scope, limit: MOST });
  const dated = runs.filter(({ periodKey }) => /^\d{4}-\d\d-\d\d$/.test(periodKey));
  const states = new Map<number, string>(dated.map(({ periodKey, state }) => [dayOf(periodKey), state]));
  const first = Math.min(...states.keys());
  const current = policy === undefined ? -Infinity : dayOf(policy.periodAt(known.now).key);
  const days: [number, string][] = [];
  for (let day = Math.max(current, ...states.keys()); day >= first && days.length < MOST; day -= 1) {
    const isExpected = states.has(day) || (await policy?.calendar.isBusinessDay(dateOf(day)));
    if (isExpected) days.unshift([day, states.get(day) ?? (day === current ? 'pending' : 'missed')]);
  }
  const dates = days.map(([day, state]) => ({ businessDate: dateOf(day), state }));
  if (json) return printJson('calendar', { job, scope, days: dates });
  if (days.length === 0) return print(`${shown(job)} has no runs`);
  printTable(weeksOf(days));
  print('');
  const counts = new Map<string, number>();
  for (const [, state] of days) counts.set(state, (counts.get(state) ?? 0) + 1);
  printTable([...counts].map(([state, count]) => ({ state: stateCell(state), days: count })));
}

const NO_DAY = { Mo: '', Tu: '', We: '', Th: '', Fr: '', Sa: '', Su: '' };

function weeksOf(days: readonly (readonly [number, string])[]): Row[] {
  const weeks = new Map<number, Row>();
  for (const [day, state] of days) {
    const [monday, [style, text]] = [mondayOf(day), stateCell(state)];
    const name = Object.keys(NO_DAY)[day - monday] ?? '';
    const week = weeks.get(monday) ?? { 'week of': dateOf(monday), ...NO_DAY };
    weeks.set(monday, { ...week, [name]: [style, text.slice(0, 1)] });
  }
  return [...weeks.values()];
}
