import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JobGuard } from 'cronlatch';
import { createDashboard, toNodeHandler } from 'cronlatch/dashboard';

/** The actor may operate it. */
export async function serveDashboard(guard: JobGuard, port = 0, actor = 'alice') {
  const dashboard = createDashboard({ guard, access: () => ({ level: 'operate', actor }) });
  const server = createServer(toNodeHandler(dashboard));
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: async (): Promise<void> => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
