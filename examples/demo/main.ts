/**
 * Four processes run one job every second, and one is killed during a run: does every tick run once? All of
 * them also call a job of the day four times a second, which fails once and whose process is killed once: is
 * it completed once?
 *
 * The workers write their events to a witness file. The figures of the last lines are counted from that file
 * and the database. `npx cronlatch demo` and `npm run demo` call this file.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { complaintsAboutDay, dayLine } from './day-verdict';
import { runDemo } from './run-demo';
import { complaintsAbout, lastLine } from './verdict';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * @param options.guarded if not, the job of every second runs without the guard, and there is no job of the day
 * @returns the exit status: 0 if lock and ledger kept their promises
 * @throws Error if the demo cannot start, for example because the driver cannot be loaded
 */
export async function demo(options: { readonly guarded: boolean }): Promise<number> {
  const stop = new AbortController();
  let status = 1;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      status = 128 + constants.signals[signal];
      stop.abort(`It was stopped by ${signal}.`);
    });
  }
  process.stdout.on('error', (error) => stop.abort(error)); // The reader has ended: `npx cronlatch demo | head`.
  const folder = await mkdtemp(join(tmpdir(), 'cronlatch-demo-'));
  try {
    const { figures, dayFigures } = await runDemo({ ...options, folder, stop });
    const ofDay = dayFigures && { complaints: complaintsAboutDay(dayFigures), line: dayLine(dayFigures) };
    const complaints = [...complaintsAbout(figures), ...(ofDay?.complaints ?? [])];
    console.log(['', ...complaints, lastLine(figures), ...(ofDay ? [ofDay.line] : [])].join('\n'));
    return complaints.length === 0 ? 0 : 1;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    console.error(`The demo ended early. ${String(stop.signal.reason)}`);
    return status;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
