import { setTimeout } from 'node:timers/promises';
import type { Random } from '#cronlatch/contracts/random';
import { machineMs } from '../../../processes/machine-time';
import type { CampaignProxy } from '../squad/campaign-proxy';
import { onServers, type Fault } from './fault';

export const DELIVERED_LATE_KIND = 'statement delivered late';

function onProxy(
  kind: string,
  everyMs: number,
  act: (proxy: CampaignProxy, random: Random) => Promise<void> | void,
): Fault {
  return {
    kind,
    everyMs,
    isFor: onServers,
    async strike({ squad, random, note }) {
      // The faults of a connection are independent of those of its process.
      const { proxies, worker } = random.pick(squad.members);
      // Its way to one server, or to all.
      const struck = random.pick([proxies, [random.pick(proxies)]]);
      const fromMs = machineMs();
      await Promise.all(struck.map(async (proxy) => await act(proxy, random)));
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
      const member = random.pick(squad.members);
      void random
        .pick(member.proxies)
        .swallow(random, then)
        .then(() => {
          const atMs = machineMs();
          note({ kind, worker: member.worker, fromMs: atMs, untilMs: atMs });
        });
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
      const { proxies, worker } = random.pick(squad.members);
      const held = random.pick(proxies).hold(random);
      const lateByMs = random.integer(500, 6000);
      void held.sent.then(async () => {
        const fromMs = machineMs();
        await setTimeout(lateByMs);
        void held.deliver();
        note({ kind, worker, fromMs, untilMs: machineMs() });
      });
      return Promise.resolve();
    },
  };
}

export const TO_CONNECTIONS: readonly Fault[] = [
  onProxy('connections cut', 2000, (proxy) => void proxy.cut()),
  swallow('reply swallowed, connection cut', 300, 'cut'),
  swallow('reply swallowed in silence', 8000, 'silence'),
  deliverLate(DELIVERED_LATE_KIND, 3000),
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
