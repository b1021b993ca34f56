import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { logLine } from '../guard/log/log-message';

export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** A line about what a command does, which is not its result. */
export function printNote(text: string): void {
  process.stderr.write(`cronlatch: ${logLine(text)}\n`);
}

export function printWarning(text: string): void {
  process.stderr.write(`cronlatch: warning: ${logLine(text)}\n`);
}

/** Whether the operator sees the output and can answer a question. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}

/** @returns `false` also if the input ends without an answer */
export async function confirm(question: string): Promise<boolean> {
  process.stdout.write(`${question} [y/N] `);
  const lines = createInterface({ input: process.stdin });
  const [answer] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [string?];
  lines.close();
  if (answer === undefined) print('');
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

/** A reader such as `head` closes the pipe when it has read enough. Then the rest of the output is not needed. */
export function ignoreClosedPipes(fail: (error: unknown) => void): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') fail(error);
    });
}

/** Ends the process when all output is written, even if a file of the application keeps connections open. */
export function endProcess(): void {
  process.stdout.write('', () => process.stderr.write('', () => process.exit()));
}
