import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the range from which systems take the ports of outgoing connections (Linux: from 32768), so that none
// of those can occupy a server's port while a test has the server stopped.
const lowest = 20_000;
const highest = 32_767;

/**
 * A port of 127.0.0.1 on which no process listens now. The caller must be ready for another process to be
 * faster.
 */
export async function freePort() {
  for (let attempt = 1; attempt <= 100; attempt++) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest + 1));
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port between ${lowest} and ${highest} was found on 127.0.0.1.`);
}

/** @param {number} port */
async function isFree(port) {
  const listener = createServer();
  try {
    await once(listener.listen(port, '127.0.0.1'), 'listening');
    return true;
  } catch {
    return false;
  } finally {
    await new Promise((closed) => listener.close(closed));
  }
}
