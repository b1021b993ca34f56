import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { printNote, printWarning } from './terminal';

const PASSED_ON = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const;
/** The signals that a terminal sends to all processes of the foreground itself. */
const OF_TERMINAL: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGQUIT']);
const POLL_MS = 20;

/**
 * Without a terminal, a child leads a group of its own, so that signals also reach what a shell has started. A terminal
 * sends its signals to its whole foreground group, and a child in another group could not read from it.
 */
const hasTerminal = [0, 1, 2].some((fd) => isatty(fd));
const hasOwnGroup = !hasTerminal && process.platform !== 'win32';

/** The exit statuses of a shell for a command that it cannot start. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** Runs one program at a time, and passes the signals that this process gets on to it. */
export class ChildRunner {
  /** The first signal that this process got. */
  received: NodeJS.Signals | undefined;
  #pid: number | undefined;

  /** @param killAfterMs how long a child that must end has between SIGTERM and SIGKILL */
  constructor(private readonly killAfterMs: number) {}

  listen(onSignal: () => void): void {
    for (const signal of PASSED_ON)
      process.on(signal, () => {
        this.received ??= signal;
        if (!(hasTerminal && OF_TERMINAL.has(signal))) this.#send(signal);
        onSignal();
      });
    // This process ends early if a file of the application leaves a rejection behind.
    process.once('exit', () => this.#send('SIGTERM'));
  }

  /**
   * Runs a program to its end. After a signal or an abort, also what it has started must end, or is killed.
   *
   * @returns its exit status, or 128 and the number of the signal that ended it, as shells do
   */
  async run(command: readonly string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<number> {
    const [file = '', ...args] = command;
    let kill: NodeJS.Timeout | undefined;
    const stop = (): void => {
      this.#send('SIGTERM');
      kill = setTimeout(() => this.#send('SIGKILL'), this.killAfterMs);
    };
    try {
      const child = spawn(file, args, { stdio: 'inherit', env, detached: hasOwnGroup });
      const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
      this.#pid = child.pid;
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop);
      const [status, endedBy] = await ended;
      if (hasOwnGroup && (signal.aborted || this.received !== undefined)) await this.#endOfGroup();
      return status ?? 128 + constants.signals[endedBy ?? 'SIGKILL'];
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      printNote(`Could not start '${file}': ${code === 'ENOENT' ? 'there is no such program' : message}.`);
      return code === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE;
    } finally {
      signal.removeEventListener('abort', stop);
      clearTimeout(kill);
      this.#pid = undefined;
    }
  }

  /** A shell ends at once, although what it has started may still be cleaning up. */
  async #endOfGroup(): Promise<void> {
    const killAtMs = performance.now() + this.killAfterMs;
    while (this.#send(0)) {
      if (performance.now() > killAtMs) return void this.#send('SIGKILL');
      await pause(POLL_MS);
    }
  }

  /** @returns whether there was a process to send it to */
  #send(signal: NodeJS.Signals | 0): boolean {
    if (this.#pid === undefined) return false;
    try {
      return process.kill(hasOwnGroup ? -this.#pid : this.#pid, signal);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'ESRCH') printWarning(`Could not send ${signal} to the command: ${message}.`);
      return false;
    }
  }
}
