import { setTimeout } from 'node:timers/promises';
import { machineMs } from '../../../processes/machine-time';
import { canSetClocks } from '../squad/squad';
import { LEASES_MS } from '../worker/orders';
import { everywhere, type Fault } from './fault';

const LONGEST_LEASE_MS = Math.max(...LEASES_MS);

const kill: Fault = {
  kind: 'SIGKILL',
  everyMs: 2200,
  isFor: everywhere,
  strike: ({ squad, note }) =>
    squad.withOne(async (member) => {
      const { worker } = member;
      const fromMs = machineMs();
      await member.kill();
      note({ kind: 'SIGKILL', worker, fromMs, untilMs: fromMs });
      await member.restart();
    }),
};

function stopFor(kind: string, everyMs: number, least: number, most: number): Fault {
  return {
    kind,
    everyMs,
    isFor: everywhere,
    strike: ({ squad, random, note }) =>
      squad.withOne(async (member) => {
        const { worker } = member;
        const fromMs = machineMs();
        member.signal('SIGSTOP');
        await setTimeout(random.integer(least, most));
        member.signal('SIGCONT');
        note({ kind, worker, fromMs, untilMs: machineMs() });
      }),
  };
}

/** Blocks the event loop from within, for longer or shorter than a lease. */
const stall: Fault = {
  kind: 'event loop stalled',
  everyMs: 6000,
  isFor: everywhere,
  strike: ({ squad, random, note }) =>
    squad.withOne(async (member) => {
      const { worker } = member;
      const fromMs = machineMs();
      await member.stall(random.integer(100, 1.5 * LONGEST_LEASE_MS));
      note({ kind: 'event loop stalled', worker, fromMs, untilMs: machineMs() });
    }),
};

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
  kill,
  stopFor('SIGSTOP shorter than the lease', 3500, 50, 1000),
  stopFor('SIGSTOP beyond the lease', 5000, LONGEST_LEASE_MS + 200, 2 * LONGEST_LEASE_MS),
  stall,
  clockSet,
];
