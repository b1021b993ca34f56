import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface ChildScript {
  /** The lines that it has written so far. */
  readonly lines: readonly string[];
  /** How it ended. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Resolves when it has written this line, or so many of them, and rejects if it ended without it. */
  line(text: string, times?: number): Promise<void>;
  kill(signal: NodeJS.Signals): void;
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
  };
}
