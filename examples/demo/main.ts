/**
 * Four processes, one job every second, one of them killed in the middle of a run: does every tick run once?
 *
 * The workers write what they do to a witness file, and the figures of the last line are counted from that file and
 * the database. The exit status says whether the lock kept its promise. With `--without-lock` the same happens
 * without the guard.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runDemo } from './run-demo';
import { complaintsAbout, lastLine } from './verdict';

const USAGE = 'Usage: npm run demo [-- --without-lock]';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function main(): Promise<number> {
  const options = readArguments();
  if (options === undefined) return 2;
  const stop = new AbortController();
  let status = 1;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      status = 128 + constants.signals[signal];
      stop.abort(`It was stopped by ${signal}.`);
    });
  }
  process.stdout.on('error', (error) => stop.abort(error)); // Nobody reads on: `npm run demo | head`.
  const folder = await mkdtemp(join(tmpdir(), 'cronlatch-demo-'));
  try {
    const figures = await runDemo({ ...options, folder, stop });
    const complaints = complaintsAbout(figures);
    console.log(['', ...complaints, lastLine(figures)].join('\n'));
    return complaints.length === 0 ? 0 : 1;
  } catch (error) {
    // A reason to stop says it all; of anything else it helps to know where it came from.
    console.error(stop.signal.aborted ? `The demo ended early. ${String(stop.signal.reason)}` : error);
    return status;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function readArguments(): { guarded: boolean } | undefined {
  try {
    const { values } = parseArgs({ options: { 'without-lock': { type: 'boolean', default: false } } });
    return { guarded: !values['without-lock'] };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    return undefined;
  }
}

void main().then((status) => (process.exitCode = status));
