import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextHours } from '#cronlatch/dashboard/next-hours';
import { Schedule } from '#cronlatch/ledger/periods/schedule';

const NOW = new Date('2026-11-20T10:40:30Z');

/** The texts of the card for jobs with these expressions, in UTC. */
async function textsOf(expressions: Readonly<Record<string, string>>): Promise<string> {
  const declaredOf = (job: string) => [
    { expression: expressions[job] ?? '', timeZone: 'UTC', dialect: 'node-cron' } as const,
  ];
  const known = { get: (job: string) => ({ declared: { schedules: declaredOf(job) } }) };
  const jobs = Object.keys(expressions).map((job) => {
    const nextScheduledAt = Schedule.of(declaredOf(job))?.next(NOW);
    return { job, state: 'ok', nextScheduledAt };
  });
  const card = await nextHours({ now: NOW, timeZone: 'UTC' } as never, known as never, jobs as never);
  return card.toString().replaceAll(/\s+/g, ' ');
}

void test('jobs that run often share one line with their next times, also late in an hour', async () => {
  const text = await textsOf({
    minutely: '* * * * *',
    even: '*/2 * * * *',
    seconds: '*/10 * * * * *',
    nightly: '0 3 * * *',
  });
  const often = 'minutely (next 10:41), even (next 10:42), seconds (next 10:40)';
  assert.ok(text.includes(`More than 24 times: ${often}.`), text);
  assert.ok(text.includes('aria-label="nightly 03:00"'), text);
});

void test('the line of a job has its times from now on, and at most 12 jobs have one', async () => {
  const expressions: Record<string, string> = { hourly: '30 * * * *' };
  for (let hour = 0; hour < 14; hour += 1) expressions[`job-${hour}`] = `0 ${hour} * * *`;
  const text = await textsOf(expressions);
  const [, hourly = ''] = /aria-label="job-11 11:00; (hourly [^;]*); job-12 12:00;/.exec(text) ?? [];
  assert.equal(hourly.split(', ').length, 24);
  assert.match(hourly, /^hourly 11:30, 12:30, .*, 10:30$/);
  assert.ok(text.includes('And 3 jobs later.'), text);
});
