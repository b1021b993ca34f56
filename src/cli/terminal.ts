import { once } from 'node:events';
import { createInterface } from 'node:readline';

export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

export function printWarning(text: string): void {
  process.stderr.write(`cronlatch: warning: ${text}\n`);
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
