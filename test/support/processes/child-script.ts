import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { eventually } from '../clocks/eventually';

export interface ChildScript {
  /** The lines that it has written so far. */
  readonly lines: readonly string[];
  /** How it ended. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Resolves when it has written this line, or so many of them, and rejects if it ended without it. */
  line(text: string, times?: number): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** Stops it, and resolves when it is stopped. */
  stop(): Promise<void>;
}

/** Runs a compiled script in its own process, which ends soon after the test's process. */
export function startScript(path: string, ...args: string[]): ChildScript {
  const child = spawn(process.execPath, [path, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const reader = createInterface(child.stdout).on('line', (line) => void lines.push(line));
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }));
  return {
    lines,
    ended,
    async line(text, times = 1) {
      const gone = ended.then(() =>
        Promise.reject(new Error(`The script ended without '${text}': ${lines.join(', ')}`)),
      );
      while (lines.filter((line) => line === text).length < times)
        await Promise.race([once(reader, 'line'), gone]);
      gone.catch(() => {});
    },
    kill: (signal) => void child.kill(signal),
    async stop() {
      child.kill('SIGSTOP');
      // Systems other than Linux have no such file, and stop it a moment later.
      const stat = `/proc/${child.pid}/stat`;
      await eventually(
        () => !existsSync(stat) || readFileSync(stat, 'utf8').includes(') T '),
        'the script is stopped',
      );
    },
  };
}
