import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Random } from '#cronlatch/contracts/random';
import { closing } from '../../support/benches/closing';
import { machineMs } from '../../processes/machine-time';
import { faultsOn } from './faults';
import type { Injection } from './faults/fault';
import { strikeUntilOver } from './faults/strike';
import { finalRuns } from './final-runs';
import type { Evidence } from './judge/evidence';
import { verdictOn, type Verdict } from './judge/verdict';
import type { CampaignOptions, CampaignServer, Keeper } from './options';
import { openPlace, type Place } from './place';
import { reportProgress } from './progress';
import { sampleRows } from './row-sampler';
import { Squad } from './squad/squad';
import { Witness } from './witness/witness';
import { keyOf, RUN_EVERY_MS } from './worker/orders';

export interface Outcome extends Verdict {
  readonly serverVersion: string;
  readonly swallowed: Readonly<Record<string, number>>;
  /** The folder with all records of a campaign that failed. */
  readonly kept: string | undefined;
}

/** The time for the remaining runs after the last fault, on a slow machine. */
const LONGEST_FINISH_MS = 180_000;

/** @param interrupted ends it early, and then it rejects */
export async function campaign(options: CampaignOptions, interrupted: AbortSignal): Promise<Outcome> {
  const place = await openPlace(options);
  const folder = mkdtempSync(join(tmpdir(), 'cronlatch-chaos-'));
  let kept: string | undefined;
  try {
    const outcome = await campaignIn(place, folder, options, interrupted);
    if (outcome.complaints.length > 0) kept = folder;
    return { ...outcome, kept };
  } finally {
    await place.close();
    if (kept === undefined) rmSync(folder, { recursive: true });
  }
}

async function campaignIn(
  place: Place,
  folder: string,
  { minutes, seed, keeper }: CampaignOptions,
  interrupted: AbortSignal,
): Promise<Omit<Outcome, 'kept'>> {
  const random = new Random(seed);
  const startMs = machineMs();
  await using witness = closing(await Witness.in(folder));
  await using squad = closing(new Squad(place, folder, witness.socket, startMs, random, keeper));
  await squad.muster();
  const struck = await strike(place, squad, random, { minutes, keeper }, interrupted);
  const keys = keysDueSince(startMs);
  await completeAll(place, squad, keys);
  const testimonies = await witness.testimonies();
  const journal = await squad.journal();
  const runs = await finalRuns(place);
  const wallAheadMs = Date.now() - machineMs();
  const evidence = { ...struck, keeper, testimonies, journal, runs, keys, wallAheadMs };
  // The other records are in the folder already.
  writeFileSync(join(folder, 'struck.json'), JSON.stringify(struck));
  const verdict = verdictOn(evidence, expectedWithin(minutes, place.name, keeper));
  return { ...verdict, swallowed: squad.swallowed, serverVersion: place.version };
}

/** Starts all faults at once, for the given time. */
async function strike(
  place: Place,
  squad: Squad,
  random: Random,
  { minutes, keeper }: Pick<CampaignOptions, 'minutes' | 'keeper'>,
  interrupted: AbortSignal,
): Promise<Pick<Evidence, 'injections' | 'samples'>> {
  const ending = new AbortController();
  const over = ending.signal;
  setMaxListeners(0, over); // Each kind of fault listens to it.
  const injections: Injection[] = [];
  const note = (injection: Injection): void => void injections.push(injection);
  reportProgress(squad, minutes, () => injections.length, over);
  const samples = sampleRows(place, over);
  const striking = strikeUntilOver(faultsOn(place.name, keeper), { place, squad, random, over, note });
  const done = Promise.all([samples, striking]);
  try {
    const time = setTimeout(minutes * 60_000, undefined, { signal: interrupted });
    await Promise.race([time, squad.casualty, done]);
  } finally {
    ending.abort();
    // Once a campaign has failed, further errors do not matter.
    done.catch(() => {});
  }
  await done;
  return { injections, samples: await samples };
}

function keysDueSince(startMs: number): string[] {
  const due = Math.floor((machineMs() - startMs) / RUN_EVERY_MS);
  return Array.from({ length: due }, (_, index) => keyOf(index));
}

/** Completes the remaining runs, without faults. */
async function completeAll(place: Place, squad: Squad, keys: readonly string[]): Promise<void> {
  const runs = await finalRuns(place);
  const completed = new Set(runs.filter(({ state }) => state === 'completed').map(({ key }) => key));
  const open = keys.filter((key) => !completed.has(key));
  await squad.finish(open, LONGEST_FINISH_MS);
}

/** The kinds of faults that have enough time to happen. */
function expectedWithin(minutes: number, server: CampaignServer, keeper: Keeper): string[] {
  const faults = faultsOn(server, keeper).filter(({ everyMs }) => everyMs * 6 < minutes * 60_000);
  return faults.map(({ kind }) => kind);
}
