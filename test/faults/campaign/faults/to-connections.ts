import { setTimeout } from 'node:timers/promises';
import type { Random } from '#cronlatch/contracts/random';
import { machineMs } from '../../processes/competition/settings';
import type { SqlProxy, StatementKind } from '../../../support/sql-proxy/sql-proxy';
import { onServers, type Fault } from './fault';

const SWALLOWED: readonly StatementKind[] = [
  'insert',
  'take-over',
  'extend',
  'unlock',
  'claim',
  'complete',
  'commit',
];

/** A later statement of the same lease may overtake these. */
const DELIVERED_LATE: readonly StatementKind[] = ['extend', 'extend', 'take-over', 'unlock'];

function onProxy(
  kind: string,
  everyMs: number,
  act: (proxy: SqlProxy, random: Random) => Promise<void> | void,
): Fault {
  return {
    kind,
    everyMs,
    isFor: onServers,
    async strike({ squad, random, note }) {
      // The faults of a connection are independent of those of its process.
      const { proxy, worker } = random.pick(squad.members);
      if (proxy === undefined) return;
      const fromMs = machineMs();
      await act(proxy, random);
      note({ kind, worker, fromMs, untilMs: machineMs() });
    },
  };
}

/** Waits for a statement of its kind, which may take a while. */
function swallow(kind: string, everyMs: number, then: 'cut' | 'silence'): Fault {
  return {
    kind,
    everyMs,
    isFor: onServers,
    strike({ squad, random, note }) {
      const { proxy } = random.pick(squad.members);
      const swallowed = proxy?.swallow(random.pick(SWALLOWED), then);
      void swallowed?.then(() => note({ kind, fromMs: machineMs(), untilMs: machineMs() }));
      return Promise.resolve();
    },
  };
}

/** The statement waits in the proxy, while its process abandons it and sends others. */
function deliverLate(kind: string, everyMs: number): Fault {
  return {
    kind,
    everyMs,
    isFor: onServers,
    strike({ squad, random, note }) {
      const { proxy } = random.pick(squad.members);
      const held = proxy?.hold(random.pick(DELIVERED_LATE));
      const lateByMs = random.integer(500, 6000);
      void held?.sent.then(async () => {
        const fromMs = machineMs();
        await setTimeout(lateByMs);
        void held.deliver();
        note({ kind, fromMs, untilMs: machineMs() });
      });
      return Promise.resolve();
    },
  };
}

export const TO_CONNECTIONS: readonly Fault[] = [
  onProxy('connections cut', 2000, (proxy) => void proxy.cut()),
  swallow('reply swallowed, connection cut', 300, 'cut'),
  swallow('reply swallowed in silence', 8000, 'silence'),
  deliverLate('statement delivered late', 3000),
  onProxy('slow network', 10_000, async (proxy, random) => {
    proxy.delay(random.pick([50, 150, 500]), { bytewise: random.integer(1, 4) === 1 });
    await setTimeout(random.integer(300, 2000));
    proxy.delay(0);
  }),
  onProxy('partition', 8000, async (proxy, random) => {
    proxy.stall(random.pick(['to-server', 'to-client', 'both']));
    await setTimeout(random.integer(200, 4000));
    proxy.flow();
  }),
];
