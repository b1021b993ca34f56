import { currentRun, LockStorageError, type TaskResult } from 'cronlatch';
import { inRunTransaction } from 'cronlatch/typeorm';
import { JOB } from '../../support/benches/transaction';
import { effectsIn, makeEffect } from '../../support/databases/effects';
import { settle, type Outcome, type Sample, type Scene, type Verdict } from './sample';

/** One tick of a job of this scene alone, whose only period has the same name. */
function tick<T>({ guard, name }: Scene, handler: () => T | Promise<T>): Promise<TaskResult<T>> {
  return guard.run({ ...JOB, name, oncePer: { ...JOB.oncePer, period: () => name } }, handler);
}

/** The row as another instance reads it: the state, the attempt, and the number of reported completions. */
async function stands({ operator, name, completed }: Scene): Promise<string> {
  const [row] = await operator.query<{ state: string; attempt: unknown }[]>(
    `SELECT state, attempt FROM cronlatch_run WHERE job_name = '${name}'`,
  );
  const times = completed.filter((job) => job === name).length;
  return row === undefined
    ? 'absent'
    : `${row.state}, attempt ${Number(row.attempt)}, reported ${times} times`;
}

const DONE = 'completed, attempt 1, reported 1 times';

/**
 * If reported as run, it ran exactly once and its row is completed; if there was an error, it did not run.
 */
async function judgeRun(scene: Scene): Promise<Verdict> {
  const attempts: number[] = [];
  const lost = scene.fault();
  const answer = await settle(tick(scene, () => void attempts.push(currentRun().attempt)));
  lost(answer);
  if ('value' in answer) {
    const isOnce = answer.value.executed && attempts.join() === '1';
    return isOnce && (await stands(scene)) === DONE ? 'right' : 'wrong';
  }
  return isStorageError(answer) && attempts.length === 0 ? 'unresolved' : 'wrong';
}

async function judgeCompletion(scene: Scene): Promise<Verdict> {
  const lost = scene.fault();
  const answer = await settle(tick(scene, () => 'done'));
  lost(answer);
  if ('value' in answer) return answer.value.executed && (await stands(scene)) === DONE ? 'right' : 'wrong';
  return isStorageError(answer) ? 'unresolved' : 'wrong';
}

/**
 * If reported as committed, its effects exist once; if there was an error, they do not exist, and the row is
 * not completed.
 */
async function judgeCommit(scene: Scene): Promise<Verdict> {
  const lost = scene.fault();
  const work = (): Promise<void> => inRunTransaction((manager) => makeEffect(manager, currentRun()));
  const answer = await settle(tick(scene, work));
  lost(answer);
  const effects = (await effectsIn(scene.operator)).filter(({ run }) => run === scene.name).length;
  const state = await stands(scene);
  if ('value' in answer) return effects === 1 && state === DONE ? 'right' : 'wrong';
  return effects === 0 && state === 'failed, attempt 1, reported 0 times' ? 'right' : 'wrong';
}

function isStorageError(answer: Outcome<unknown>): boolean {
  return 'error' in answer && answer.error instanceof LockStorageError;
}

export const RUN_SAMPLES: readonly Sample[] = [
  { what: 'claim of a new run', kind: 'claim', judge: judgeRun },
  {
    what: 'claim of an existing run',
    kind: 'claim',
    async judge(scene) {
      await tick(scene, () => currentRun().giveBack());
      return await judgeRun(scene);
    },
  },
  { what: 'complete', kind: 'complete', judge: judgeCompletion },
  { what: 'COMMIT', kind: 'commit', judge: judgeCommit },
];
