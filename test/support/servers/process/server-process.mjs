import { createInterface } from 'node:readline';

import { gist } from './gist.mjs';
import { killAll } from './kill-all.mjs';
import { spawnGuarded } from './spawn-guarded.mjs';

const startLimit = 60_000;
const shutdownLimit = 30_000;

/** A server's process that is ready for connections. */
export class ServerProcess {
  #child;
  #closed;

  /**
   * Resolves when the server has logged a line that matches `ready`; rejects with the gist of its log if it
   * ends before that, or is not ready in time.
   *
   * @param {{ file: string, args: string[] }} program
   * @param {string[]} args
   * @param {{ cwd: string, ready: RegExp }} options
   */
  static async start(program, args, { cwd, ready }) {
    const server = new ServerProcess(spawnGuarded(program.file, [...program.args, ...args], { cwd }));
    try {
      await server.#hasLogged(ready);
    } catch (error) {
      await server.end('SIGKILL');
      throw error;
    }
    server.#letGo();
    return server;
  }

  /** @param {ReturnType<typeof spawnGuarded>} child */
  constructor(child) {
    this.#child = child;
    this.#closed = new Promise((resolve) => child.once('close', resolve).once('error', resolve));
  }

  get pid() {
    return this.#child.pid;
  }

  /**
   * Resolves when the process and its children have ended: they share its log.
   *
   * @param {'SIGKILL' | 'SIGTERM' | 'SIGINT'} signal
   */
  async end(signal) {
    if (signal === 'SIGKILL') this.#kill();
    else this.#child.kill(signal);
    // Also keeps this process alive meanwhile, which the child does not: see #letGo.
    const timer = setTimeout(() => this.#kill(), shutdownLimit);
    await this.#closed;
    clearTimeout(timer);
  }

  #kill() {
    // Not if it has ended, because its id may then belong to another process.
    if (this.#child.exitCode === null && this.#child.signalCode === null && this.pid) killAll(this.pid);
  }

  /** @param {RegExp} ready @returns {Promise<void>} */
  #hasLogged(ready) {
    return new Promise((resolve, reject) => {
      let log = '';
      const fail = (/** @type {string} */ what) => reject(new Error(`the server ${what}: ${gist(log)}`));
      const timer = setTimeout(() => fail(`was not ready after ${startLimit / 1000} seconds`), startLimit);
      for (const input of [this.#child.stdout, this.#child.stderr]) {
        // Stays attached when the server is ready, because a server with an unread log stops at a full pipe.
        createInterface({ input }).on('line', (line) => {
          log = `${log}${line}\n`.slice(-10_000);
          if (!ready.test(line)) return;
          clearTimeout(timer);
          resolve();
        });
      }
      void this.#closed.then(() => {
        clearTimeout(timer);
        fail('ended before it was ready');
      });
    });
  }

  /** A test that does not stop its server must still end. */
  #letGo() {
    this.#child.unref();
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      /** @type {import('node:net').Socket} */ (/** @type {unknown} */ (stream)).unref();
    }
  }
}
