import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { closing } from '../benches/closing';
import { ensembleOf, type Ensemble, type EnsembleName } from './own';
import { runningServer } from './running';

const SERVERS = ['mysql', 'mariadb', 'postgres'];

/**
 * Which stores show a case that has several: `npm test` those without a server and one server (`one`), and
 * `npm run test:faults` the other servers (`others`). Otherwise every store shows it.
 */
const SHARE = process.env['CRONLATCH_TEST_SHARE'] as 'one' | 'others' | undefined;

/** The only store whose cases run: `--on postgres`. */
const ONLY = process.env['CRONLATCH_TEST_ON'];

let isShared = false;

/** Declares a case for each store that shows it in this run. The name chooses the server of `npm test`. */
export function onStores<Store extends string>(
  stores: readonly Store[],
  name: string,
  declare: (store: Store) => void,
): void {
  const servers = stores.filter((store) => SERVERS.includes(store));
  const chosen = servers[(createHash('sha256').update(name).digest()[0] ?? 0) % servers.length];
  for (const store of stores.filter(isWanted)) {
    const isFirst = store === chosen || !servers.includes(store);
    if (SHARE !== undefined && isFirst !== (SHARE === 'one')) {
      report(`later ${store}`);
      continue;
    }
    isShared = true;
    declare(store);
    isShared = false;
  }
}

/** @param store `undefined`: its declaration has asked */
export function isWanted(store: string | undefined): boolean {
  return ONLY === undefined || store === undefined || store === ONLY;
}

/** A test of a store that needs no server. */
export function testHere(store: string, name: string, body: (t: TestContext) => Promise<void>): void {
  if (isWanted(store)) void test(`${store}: ${name}`, body);
}

/** A test that needs a server. Without the server it is skipped, and the run reports it at its end. */
export function testOn(server: string, name: string, body: (t: TestContext) => Promise<void>): void {
  if (!isWanted(server)) return;
  const isThere = runningServer(server) !== undefined;
  testIf(isThere, server, `${server}: ${name}`, body);
}

/** A test that needs its own server, to kill it: not one that the environment names. */
export function testOnOwn(server: string, name: string, body: (t: TestContext) => Promise<void>): void {
  if (!isWanted(server)) return;
  const running = runningServer(server);
  const isPrivate = running !== undefined && running.origin !== 'environment';
  testIf(isPrivate, `${server} that may be killed`, `${server}: ${name}`, body);
}

/** A test that needs several private servers of a kind, with a leader among them. */
export function testOnEnsemble(
  ensemble: EnsembleName,
  name: string,
  body: (ensemble: Ensemble, t: TestContext) => Promise<void>,
): void {
  const server = ensemble === 'sentinel' ? 'redis' : ensemble;
  if (!isWanted(server)) return;
  const running = runningServer(server);
  const isPrivate = running !== undefined && ['binary', '.servers'].includes(running.origin);
  testIf(isPrivate, `ensemble of ${ensemble}`, `${ensemble}: ${name}`, async (t) => {
    await using started = closing(await ensembleOf(ensemble));
    await body(started, t);
  });
}

/** A test that needs something that may be missing. */
export function testIf(
  condition: boolean,
  needed: string,
  name: string,
  body: (t: TestContext) => Promise<void>,
): void {
  if (!condition) reportSkip(needed);
  // Of the tests of its file, `npm run test:faults` runs those alone.
  const only = isShared && SHARE === 'others' ? { only: true } : {};
  void test(name, condition ? only : { ...only, skip: `there is no ${needed}` }, body);
}

/** Starts a server for a part of a test. Without it, the test is skipped, and the run reports it at its end. */
export async function withStarted<Server extends { stop(): unknown }>(
  t: TestContext,
  needed: string,
  start: () => Promise<Server>,
  body: (server: Server) => Promise<void>,
): Promise<void> {
  let started: Server;
  try {
    started = await start();
  } catch (error) {
    if ((error as Error).name !== 'MissingServerError') throw error;
    reportSkip(needed);
    return t.skip(`there is no ${needed}`);
  }
  await using server = closing(started);
  await body(server);
}

/** Announces at the end of the run what a skipped test needs. */
export function reportSkip(needed: string): void {
  report(`skip ${needed}`);
}

/** Announces at the end of the run which cases are skipped because of the store. */
export function reportLack(store: string, lack: string): void {
  report(`lack ${store}: ${lack}`);
}

function report(line: string): void {
  // The run on the first server has reported it.
  if (SHARE === 'others' && !isShared) return;
  const log = process.env['CRONLATCH_TEST_SKIPS'];
  if (log !== undefined) appendFileSync(log, `${line}\n`);
}
