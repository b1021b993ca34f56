import type { Lock } from 'cronlatch';
import { eventually } from '../../support/clocks/eventually';
import { databaseNowUs, lockRows, type LockRow } from '../../support/databases/lock-table';
import { settle, type Sample, type Scene, type Verdict } from './sample';

const LEASE = '1m';

async function rowOf({ operator, name }: Scene): Promise<LockRow | undefined> {
  return (await lockRows(operator)).find((row) => row.name === name);
}

/** Whether the lock trusts its lease for longer than the database keeps it. */
async function isTrustedInVain(lock: Lock, row: LockRow, { operator }: Scene): Promise<boolean> {
  const nowUs = await databaseNowUs(operator);
  return lock.remainingMs() > (row.lockUntilUs - nowUs) / 1000;
}

async function lockOf({ provider, name }: Scene): Promise<Lock> {
  const lock = await provider.lock({ name, lockAtMostFor: LEASE });
  if (lock !== undefined) return lock;
  throw new Error(`Lock '${name}' is held before the fault happened.`);
}

/** If acquired, the table has the lock with its token; if there was an error, the lock is free soon. */
async function judgeGrant(scene: Scene): Promise<Verdict> {
  const lost = scene.fault();
  const answer = await settle(scene.provider.lock({ name: scene.name, lockAtMostFor: LEASE }));
  lost(answer);
  if ('error' in answer) {
    await eventually(async () => (await rowOf(scene))?.held !== true, 'the lock is free');
    return 'unresolved';
  }
  const lock = answer.value;
  const row = await rowOf(scene);
  if (lock === undefined || row === undefined) return 'wrong';
  if (!row.held || row.token !== lock.fencingToken) return 'wrong';
  if (await isTrustedInVain(lock, row, scene)) return 'wrong';
  return (await lock.unlock()) ? 'right' : 'wrong';
}

async function judgeExtension(scene: Scene): Promise<Verdict> {
  const lock = await lockOf(scene);
  const before = await rowOf(scene);
  const lost = scene.fault();
  const answer = await settle(lock.extend('2m'));
  lost(answer);
  if ('error' in answer) return 'unresolved';
  const row = await rowOf(scene);
  if (!answer.value || before === undefined || row === undefined) return 'wrong';
  if (!row.held || row.lockUntilUs < before.lockUntilUs + 30_000_000) return 'wrong';
  if (lock.remainingMs() <= 60_000 || (await isTrustedInVain(lock, row, scene))) return 'wrong';
  return (await lock.unlock()) ? 'right' : 'wrong';
}

async function judgeRelease(scene: Scene): Promise<Verdict> {
  const lock = await lockOf(scene);
  const lost = scene.fault();
  const answer = await settle(lock.unlock());
  lost(answer);
  if ('error' in answer) return 'unresolved';
  const row = await rowOf(scene);
  return answer.value && row?.held === false && row.lockedBy.endsWith('/released') ? 'right' : 'wrong';
}

export const LOCK_SAMPLES: readonly Sample[] = [
  { what: 'insert', kind: 'insert', judge: judgeGrant },
  {
    what: 'take-over',
    kind: 'take-over',
    async judge(scene) {
      await (await lockOf(scene)).unlock();
      return await judgeGrant(scene);
    },
  },
  { what: 'extend', kind: 'extend', judge: judgeExtension },
  { what: 'unlock', kind: 'unlock', judge: judgeRelease },
];
