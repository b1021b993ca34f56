import assert from 'node:assert/strict';
import { businessDateAt, periodAt } from 'cronlatch/calendar';

export async function use() {
  const lateEvening = new Date('2026-11-20T23:30:00Z');
  assert.equal(businessDateAt(lateEvening, { timeZone: 'Europe/Paris' }), '2026-11-21');
  const { key } = periodAt(lateEvening, { kind: 'month', timeZone: 'UTC' });
  assert.equal(await Promise.resolve(key), '2026-11');
}
