import { appendFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { ensembleOf, type Ensemble, type EnsembleName } from './own-server';
import { runningServer } from './running-servers';

/** A test that needs a server. Without the server it is skipped, and the run reports it at its end. */
export function testOn(server: string, name: string, body: (t: TestContext) => Promise<void>): void {
  const isThere = runningServer(server) !== undefined;
  testIf(isThere, server, `${server}: ${name}`, body);
}

/** A test that needs its own server, to kill it: not one that the environment names. */
export function testOnOwn(server: string, name: string, body: (t: TestContext) => Promise<void>): void {
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
  const running = runningServer(ensemble === 'sentinel' ? 'redis' : ensemble);
  const isPrivate = running !== undefined && ['binary', '.servers'].includes(running.origin);
  testIf(isPrivate, `ensemble of ${ensemble}`, `${ensemble}: ${name}`, async (t) => {
    const started = await ensembleOf(ensemble);
    try {
      await body(started, t);
    } finally {
      await started.stop();
    }
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
  void test(name, condition ? {} : { skip: `there is no ${needed}` }, body);
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
  const log = process.env['CRONLATCH_TEST_SKIPS'];
  if (log !== undefined) appendFileSync(log, `${line}\n`);
}
