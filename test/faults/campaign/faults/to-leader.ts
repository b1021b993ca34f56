import { setTimeout } from 'node:timers/promises';
import type { Ensemble, OwnServer } from '../../../support/servers/own';
import { machineMs } from '../../../processes/machine-time';
import { onEnsembles, type Fault } from './fault';

/** Ends when there is a leader again, and the old one follows it. */
function toLeader(
  kind: string,
  everyMs: number,
  act: (leader: OwnServer, ensemble: Ensemble) => Promise<void>,
): Fault {
  return {
    kind,
    everyMs,
    isFor: onEnsembles,
    isAlone: true,
    async strike({ place: { ensemble }, note }) {
      if (ensemble === undefined) return;
      const leader = await ensemble.leader();
      const fromMs = machineMs();
      await act(leader, ensemble);
      await ensemble.settled();
      note({ kind, fromMs, untilMs: machineMs() });
    },
  };
}

export const LEADER_KILLED = 'leader killed';
export const LEADER_PAUSED = 'leader paused';
/** Long enough for the others to elect another leader. */
const PAUSE_MS = 4000;

export const TO_LEADER: readonly Fault[] = [
  toLeader(LEADER_KILLED, 15_000, async (leader, ensemble) => {
    await leader.kill();
    // A primary of Redis that comes back without its data, before another one leads, empties its replicas.
    await ensemble.leader();
    await leader.restart();
  }),
  toLeader(LEADER_PAUSED, 20_000, async ({ pid }) => {
    if (pid === undefined) return;
    process.kill(pid, 'SIGSTOP');
    await setTimeout(PAUSE_MS);
    process.kill(pid, 'SIGCONT');
  }),
];
