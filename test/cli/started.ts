import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Ended } from '../support/processes/command';

/** A call of the command line that still runs. */
export interface Started {
  /** Resolves when the output contains the text. Rejects if the call ends before. */
  readonly printed: (text: string) => Promise<void>;
  /** What it has printed. */
  readonly output: () => string;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Ends the input of the call, which its command inherits. */
  readonly endInput: () => void;
  readonly ended: Promise<Ended>;
}

/** After this time, a call that should have ended is killed, and its test fails. */
const LONGEST_MS = 30_000;

/** Starts the built command line in a process of its own, without a terminal. */
export function started(args: readonly string[], env: Readonly<Record<string, string>> = {}): Started {
  const child = spawn(process.execPath, [resolve('dist/cli/main.js'), ...args], {
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, DATABASE_URL: undefined, ...env },
    stdio: 'pipe',
    timeout: LONGEST_MS,
    killSignal: 'SIGKILL',
  });
  const output = { stdout: '', stderr: '' };
  const changes = new EventTarget();
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
      changes.dispatchEvent(new Event('change'));
    });
  const ended = once(child, 'close').then(([status, signal]) => {
    changes.dispatchEvent(new Event('change'));
    if (typeof status === 'number') return { ...output, status };
    throw new Error(`${String(signal)} ended the call: ${output.stdout}${output.stderr}`);
  });
  ended.catch(() => {}); // The test awaits it later.
  return {
    ended,
    output: () => `${output.stdout}${output.stderr}`,
    printed: async (text) => {
      while (!`${output.stdout}${output.stderr}`.includes(text)) {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`The call ended without '${text}': ${output.stdout}${output.stderr}`);
        await once(changes, 'change');
      }
    },
    kill: (signal) => void child.kill(signal),
    endInput: () => child.stdin.end(),
  };
}
