import { currentRun, FatalJobError } from 'cronlatch';
import type { RunKey } from 'cronlatch/provider';
import { pause } from '#cronlatch/core/clock';
import { requiredContext } from '#cronlatch/ledger/tick/run-context';
import { keyTextOf, type HandlerRun } from '../../history/ledger/ledger-history';
import type { SimulatedHost } from '../simulated-host';
import type { LedgerWorld } from './ledger-world';

/** Calls the job of this handler, as an override calls the method of its base class. */
export type CallItself = (key: RunKey, inner: () => Promise<HandlerRun>) => Promise<unknown>;

/**
 * What a job does, by the seed: it works for a while, reads its signal or does not, and ends in one of many
 * ways.
 */
export async function handle(
  world: LedgerWorld,
  host: SimulatedHost,
  callItself: CallItself,
): Promise<HandlerRun> {
  const { random, scheduler, history, ledger, faults } = world;
  const context = requiredContext('a simulated handler');
  const { claim } = context;
  const run: HandlerRun = {
    host: host.id,
    key: keyTextOf(claim),
    claim,
    beganAtMs: scheduler.nowMs,
    beganOrder: history.nextOrder(),
    ending: undefined,
    error: undefined,
  };
  ledger.handlerRuns.push(run);
  const inner = (): Promise<HandlerRun> => {
    if (requiredContext('a simulated handler').claim !== claim) return handle(world, host, callItself);
    ledger.innerRuns.push({ host: host.id, key: run.key, claim, atMs: scheduler.nowMs });
    return Promise.resolve(run);
  };
  const obeys = random.pick([true, false]);
  const endings = [
    'returns',
    'returns',
    'returns',
    'throws',
    'throws',
    'gives back',
    'skips',
    'is fatal',
  ] as const;
  const ending = faults.haveEnded ? 'returns' : random.pick(endings);
  try {
    for (let left = random.integer(0, 5); left > 0; left -= 1) {
      await pause(host, random.pick([0, 1, 50, 300, 900, 2000]));
      if (obeys) context.signal.throwIfAborted();
    }
    if (random.integer(1, 4) === 1) await callItself(claim, inner);
    if (ending === 'throws') throw new Error('simulated');
    if (ending === 'is fatal' && random.pick([true, false])) throw new FatalJobError('simulated');
  } catch (error) {
    Object.assign(run, { ending: 'threw', error });
    throw error;
  }
  if (ending === 'gives back') currentRun().giveBack();
  if (ending === 'skips') currentRun().skip('simulated');
  run.ending = ending === 'gives back' ? 'given-back' : ending === 'skips' ? 'skipped' : 'returned';
  return run;
}
