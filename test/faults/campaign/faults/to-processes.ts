import { setTimeout } from 'node:timers/promises';
import type { Random } from '#cronlatch/contracts/random';
import { machineMs } from '../../../processes/machine-time';
import type { Member } from '../squad/member';
import { canSetClocks } from '../squad/squad';
import { LEASES_MS } from '../worker/orders';
import { everywhere, type Fault } from './fault';

const LONGEST_LEASE_MS = Math.max(...LEASES_MS);

/** @param act ends when the process runs again */
function toProcess(
  kind: string,
  everyMs: number,
  act: (member: Member, random: Random) => Promise<void>,
): Fault {
  return {
    kind,
    everyMs,
    isFor: everywhere,
    strike: ({ squad, random, note }) =>
      squad.withOne(async (member) => {
        const { worker } = member;
        const fromMs = machineMs();
        await act(member, random);
        note({ kind, worker, fromMs, untilMs: machineMs() });
      }),
  };
}

async function stop(member: Member, ms: number): Promise<void> {
  member.signal('SIGSTOP');
  await setTimeout(ms);
  member.signal('SIGCONT');
}

/** This must have no effect: the clock of the database and the monotonic clock decide. */
const clockSet: Fault = {
  kind: 'wall clock set',
  everyMs: 8000,
  isFor: canSetClocks,
  strike({ squad, random, note }) {
    const { clock, worker } = random.pick(squad.members.filter((member) => member.clock !== undefined));
    clock?.set(random.pick(['+0', '+1h', '-1h', '+1d', '-1d', '+3s', '-3s']));
    const fromMs = machineMs();
    note({ kind: 'wall clock set', worker, fromMs, untilMs: fromMs });
    return Promise.resolve();
  },
};

export const TO_PROCESSES: readonly Fault[] = [
  toProcess('SIGKILL', 2200, async (member) => {
    await member.kill();
    await member.restart();
  }),
  toProcess('SIGSTOP shorter than the lease', 3500, (member, random) =>
    stop(member, random.integer(50, 1000)),
  ),
  toProcess('SIGSTOP beyond the lease', 5000, (member, random) =>
    stop(member, random.integer(LONGEST_LEASE_MS + 200, 2 * LONGEST_LEASE_MS)),
  ),
  // Blocks the event loop from within, for longer or shorter than a lease.
  toProcess('event loop stalled', 6000, (member, random) =>
    member.stall(random.integer(100, 1.5 * LONGEST_LEASE_MS)),
  ),
  clockSet,
];
