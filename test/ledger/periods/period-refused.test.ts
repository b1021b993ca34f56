import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError } from 'cronlatch';
import {
  periodAt,
  periodsBetween,
  type CalendarKind,
  type PeriodOptions,
} from '#cronlatch/ledger/periods/period';
import { refused } from '../../support/checks/refused';

const NOON = new Date('2026-11-20T12:00:00Z');
const custom = (kind: (at: Date) => string): PeriodOptions => ({ kind, timeZone: 'Europe/Paris' });
const periodBy = (kind: (at: Date) => string, instant = NOON) => periodAt(instant, custom(kind));

void test('a custom key has a business date, but no start and no end', () => {
  const period = periodBy((at) => `batch-${at.getUTCHours()}`, new Date('2026-11-20T23:30:00Z'));
  assert.deepEqual(period, { key: 'batch-23', businessDate: '2026-11-21', start: undefined, end: undefined });
});

void test('a key function may change the date that it receives', () => {
  const instant = new Date(NOON);
  periodBy((at) => String(at.setUTCHours(0)), instant);
  assert.deepEqual(instant, NOON);
});

for (const [what, key] of [
  ['empty', ''],
  ['65 characters long', 'x'.repeat(65)],
  ['padded', ' x'],
  ['of two lines', 'a\nb'],
  ['not in normal form C', 'e\u0301'],
  ['half a surrogate pair', '\ud83d'],
  ['a number', 20261120],
  ['a promise', Promise.resolve('x')],
  ['missing', undefined],
] as const)
  void test(`a custom key that is ${what} is rejected, and the error names the instant (L-58)`, () => {
    refused(() => periodBy(() => key as string), 'the key of a period', '2026-11-20T12:00:00.000Z');
  });

void test('a custom key may have 64 characters, regardless of its bytes (L-58)', () => {
  assert.equal(periodBy(() => '💶'.repeat(64)).key.length, 128);
});

void test('if a key function throws, cronlatch throws its own error with that cause (L-58)', () => {
  const cause = new Error('no key today');
  const failing = (): never => {
    throw cause;
  };
  assert.throws(
    () => periodBy(failing),
    (error) => error instanceof InvalidLockConfigurationError && error.cause === cause,
  );
});

void test('an invalid period is rejected', () => {
  const options = { kind: 'day', timeZone: 'UTC' } as const;
  for (const kind of ['days', 'minute', '', undefined, null, 'constructor'])
    refused(() => periodAt(NOON, { ...options, kind: kind as CalendarKind }), 'kind is ', `'quarter'`);
  refused(() => periodAt(NOON, { ...options, target: 'next' as 'current' }), 'target is "next"');
  refused(() => periodAt(NOON, { ...custom(() => 'x'), target: 'previous' }), `target 'previous'`);
  refused(() => periodAt(new Date(NaN), options), 'is not an instant');
  refused(() => periodAt(NOON, { ...options, timeZone: 'Mars' }), 'Mars');
  refused(() => periodAt(NOON, { ...options, dayStart: '24:00' }), '24:00');
});

void test('at most 10,000 periods are listed at a time (L-47)', () => {
  const options = { kind: 'hour', timeZone: 'UTC' } as const;
  const from = new Date('2026-01-01T00:00:00Z');
  const after = (hours: number): Date => new Date(from.getTime() + hours * 3_600_000);
  assert.equal(periodsBetween(from, after(10_000), options).length, 10_000);
  refused(() => periodsBetween(from, after(10_001), options), '10000', `'hour'`, '2026-01-01');
});
