import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { DataSourceOptions } from 'typeorm';

/** Whether the jobs are locked only, or also run once per day. */
export type Kind = 'locks' | 'once-per-day';

/** What each process of a crowd does. */
export interface Orders {
  readonly kind: Kind;
  /** Who runs the jobs. A number is a position in `NIGHT_VARIANTS`. */
  readonly by: 'driver' | 'pg-boss' | number;
  readonly options: DataSourceOptions;
  /** All are due at the same time. */
  readonly jobs: readonly string[];
}

/** What one process has done. */
export interface Account {
  /** For each job that it ran, when, in milliseconds after the common start. */
  readonly ranAfterMs: Readonly<Record<string, number>>;
  /** When its last tick had ended. */
  readonly endedAfterMs: number;
  /** Its processor time from the common start until then. */
  readonly cpuMs: number;
  /** The messages of ticks that failed. */
  readonly failures: readonly string[];
}

/** Enough for the message to reach every process. */
const UNTIL_START_MS = 300;

/** Starts processes, lets all of them begin at the same moment, and returns what each has done after all have ended. */
export async function runCrowd(size: number, orders: Orders): Promise<readonly Account[]> {
  const children = Array.from({ length: size }, () => fork(join(__dirname, 'instance.js')));
  try {
    await Promise.all(children.map((child) => answerOf(child, orders)));
    const startAtMs = Date.now() + UNTIL_START_MS;
    return (await Promise.all(children.map((child) => answerOf(child, startAtMs)))) as Account[];
  } finally {
    await Promise.all(children.map(end));
  }
}

/** Sends a message, and waits for the next one from the process. */
async function answerOf(child: ChildProcess, message: object | number): Promise<unknown> {
  const waiting = new AbortController();
  const ended = once(child, 'exit', waiting).then(([status]) => {
    throw new Error(`A process of the crowd ended with status ${String(status)}.`);
  });
  try {
    child.send(message);
    const [answer] = (await Promise.race([once(child, 'message', waiting), ended])) as [unknown];
    return answer;
  } finally {
    ended.catch(() => {}); // Its wait ends with the next line.
    waiting.abort();
  }
}

/** Without its channel it has nothing to wait for, and ends. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  if (child.connected) child.disconnect();
  await ended;
}
