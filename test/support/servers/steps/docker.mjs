import { fileURLToPath } from 'node:url';

import { confirmVersion } from '../confirm-version.mjs';
import { freePort } from '../free-port.mjs';
import { guard } from '../process/guard.mjs';
import { run } from '../process/run.mjs';

/** @typedef {import('../types.mjs').Recipe} Recipe */

const composeFile = fileURLToPath(new URL('../compose.yaml', import.meta.url));
// The first time an image is pulled.
const pullLimit = 600_000;

/** @param {Recipe} recipe @param {{ log: (line: string) => void }} options */
export async function startWithDocker(recipe, { log }) {
  // The command alone proves nothing: many machines have it without an engine.
  await run('docker', ['info'], { timeout: 15_000 }).catch((cause) => {
    throw new Error(`no engine answers: ${cause.message}`, { cause });
  });
  const container = new Container(recipe, await freePort());
  try {
    log(`${recipe.label}: docker compose up, which pulls its image the first time`);
    await container.up();
    container.version = await confirmVersion(recipe, container.url);
    return container;
  } catch (error) {
    await container.stop();
    throw error;
  }
}

/** A service of compose.yaml under a project's name of its own. Implements OwnServer of types.mjs. */
class Container {
  /** @type {'docker'} */ origin = 'docker';
  version = '';
  #compose;
  #env;
  #release;

  /** @param {Recipe} recipe @param {number} port */
  constructor(recipe, port) {
    this.name = recipe.name;
    this.url = recipe.url(port);
    this.#env = { [`CRONLATCH_${recipe.name.toUpperCase()}_PORT`]: `${port}` };
    this.#compose = ['compose', '--project-name', `cronlatch-${process.pid}-${port}`, '--file', composeFile];
    this.#release = guard({ command: ['docker', ...this.#compose, ...down] });
  }

  async kill(/** @type {'SIGKILL' | 'SIGTERM'} */ signal = 'SIGKILL') {
    if (signal === 'SIGKILL') await this.#run('kill', this.name);
    else await this.#run('stop', this.name);
  }

  async restart() {
    await this.kill('SIGTERM');
    await this.up();
  }

  async up() {
    await this.#run('up', '--detach', '--wait', this.name);
  }

  async stop() {
    await this.#run(...down);
    this.#release();
  }

  /** @param {string[]} args */
  #run(...args) {
    return run('docker', [...this.#compose, ...args], { env: this.#env, timeout: pullLimit });
  }
}

const down = ['down', '--volumes', '--timeout', '0'];
