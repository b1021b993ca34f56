import { accessSync, constants, existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { confirmVersion } from './confirm-version.mjs';
import { messageOf } from './errors.mjs';
import { freePort } from './free-port.mjs';
import { guard } from './process/guard.mjs';
import { run } from './process/run.mjs';
import { ServerProcess } from './process/server-process.mjs';

/**
 * @typedef {import('./types.mjs').Recipe} Recipe
 * @typedef {import('./types.mjs').Program} Program
 */

/** One server with a port and a data folder of its own. Implements OwnServer of types.mjs. */
export class PrivateServer {
  /** @type {ServerProcess | undefined} */ #process;
  #recipe;
  #program;
  #folder;
  #cleanUp;
  #release;
  #hasty;
  #port = 0;
  version = '';

  /**
   * @param {Recipe} recipe
   * @param {Program} program
   * @param {'binary' | '.servers'} origin
   * @param {{ hasty?: boolean }} options
   */
  static async start(recipe, program, origin, { hasty = false }) {
    const folder = await mkdtemp(join(parentFor(recipe), `cronlatch-${recipe.name}-`));
    const server = new PrivateServer(recipe, program, origin, folder, hasty);
    try {
      await initialize(recipe, program, folder);
      await server.#serveOnFreePort();
      server.version = await confirmVersion(recipe, server.url);
      return server;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  /**
   * @param {Recipe} recipe
   * @param {Program} program
   * @param {'binary' | '.servers'} origin
   * @param {string} folder
   * @param {boolean} hasty
   */
  constructor(recipe, program, origin, folder, hasty) {
    this.#recipe = recipe;
    this.#program = program;
    this.#folder = folder;
    this.#hasty = hasty;
    this.#cleanUp = recipe.cleanUp?.(folder);
    this.#release = guard({ folder, command: this.#cleanUp });
    this.name = recipe.name;
    this.origin = origin;
  }

  get url() {
    return this.#recipe.url(this.#port);
  }

  get pid() {
    return this.#process?.pid;
  }

  async kill(/** @type {'SIGKILL' | 'SIGTERM'} */ signal = 'SIGKILL') {
    await this.#process?.end(signal === 'SIGTERM' ? (this.#recipe.shutdownSignal ?? signal) : signal);
    this.#process = undefined;
  }

  async restart() {
    await this.kill('SIGTERM');
    await this.#serve();
  }

  async stop() {
    // The data is thrown away, so a clean shutdown would waste a second; and a server that a test has paused
    // with SIGSTOP would never finish one.
    await this.kill('SIGKILL');
    if (this.#cleanUp) await run(this.#cleanUp[0], this.#cleanUp.slice(1));
    await rm(this.#folder, { recursive: true, force: true });
    this.#release();
  }

  async #serveOnFreePort() {
    for (let attempt = 1; ; attempt++) {
      this.#port = await freePort();
      try {
        return await this.#serve();
      } catch (error) {
        // Another process can take the port between our check and the server's start.
        if (attempt === 3 || !/address already in use/i.test(messageOf(error))) throw error;
      }
    }
  }

  async #serve() {
    const { args, hastily = [], ready } = this.#recipe.serve(this.#program, this.#folder, this.#port);
    const all = this.#hasty ? [...args, ...hastily] : args;
    this.#process = await ServerProcess.start(this.#program, all, { cwd: this.#folder, ready });
  }
}

const memory = '/dev/shm';

/** @param {Recipe} recipe */
function parentFor({ inMemory = false }) {
  if (!inMemory) return tmpdir();
  try {
    accessSync(memory, constants.W_OK | constants.X_OK);
    return memory;
  } catch {
    return tmpdir();
  }
}

/**
 * Creates the data of a server, which takes seconds. If CRONLATCH_SERVER_DATA names a folder, the data is created there
 * once for each version of a server, and then copied.
 *
 * @param {Recipe} recipe
 * @param {Program} program
 * @param {string} folder
 */
async function initialize(recipe, program, folder) {
  const kept = process.env.CRONLATCH_SERVER_DATA;
  if (kept === undefined) return await recipe.initialize(program, folder);
  const data = join(kept, `${recipe.name}-${program.version}`);
  if (existsSync(data)) return await copy(data, folder);
  await recipe.initialize(program, folder);
  await mkdir(kept, { recursive: true });
  // Several servers of one kind may start at once. The first copy that is complete is kept.
  const own = await mkdtemp(`${data}.new-`);
  await copy(folder, own);
  await rename(own, data).catch(async (error) => {
    await rm(own, { recursive: true, force: true });
    if (!existsSync(data)) throw error;
  });
}

/** Keeps the owners of all files. @param {string} from @param {string} to */
async function copy(from, to) {
  await mkdir(to, { recursive: true });
  await run('cp', ['-a', `${from}/.`, to]);
}
