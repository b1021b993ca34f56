import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { join } from 'node:path';
import { suite } from 'node:test';
import type { AppMessage } from '../../integrations/nestjs/shutdown/app';
import { Child } from '../../processes/child';
import type { SignalledOrders } from '../../processes/fixtures/signalled-app';
import { closing } from '../../support/benches/closing';
import { testWith, type TestDatabase } from '../../support/databases/fresh';
import { lockRows, migratedDataSource } from '../../support/databases/lock-table';
import { startScript, type ChildScript } from '../../support/processes/child-script';
import { installed } from '../../support/processes/installed';

type Orders = Omit<SignalledOrders, 'options' | 'packages'>;
type Signal = 'SIGTERM' | 'SIGINT';

const APP = join(__dirname, '../../processes/fixtures/signalled-app.js');
const PACKAGES = 'test/processes/signal-listeners';

const BESIDE: Readonly<Record<string, Orders>> = {
  'signal-exit 3, hooked before the guard': { before: ['signal-exit 3'] },
  'signal-exit 3, hooked after the guard': { after: ['signal-exit 3'] },
  'signal-exit 4, hooked before the guard': { before: ['signal-exit 4'] },
  'signal-exit 4, hooked after the guard': { after: ['signal-exit 4'] },
  'both versions of signal-exit': { before: ['signal-exit 3'], after: ['signal-exit 4'] },
  'proper-lockfile, imported': { before: ['proper-lockfile'] },
  'a child of execa inside the job': { hasChild: true },
};

/** Programs that run an application, and send it the signals that they get. */
const RUNNERS = {
  'tsx watch': (packages: string) => [join(packages, 'tsx/dist/cli.mjs'), 'watch'],
  nodemon: (packages: string) => [
    join(packages, 'nodemon/bin/nodemon.js'),
    ...['--signal', 'SIGTERM', '--watch', __dirname, '--ext', 'changed'],
  ],
};

interface How {
  readonly runner?: (packages: string) => readonly string[];
  readonly orders?: Orders;
}

/** The arguments of `node` that start an application in a database. */
async function commandOf({ options }: TestDatabase, { runner, orders }: How): Promise<[string, ...string[]]> {
  const packages = await installed(PACKAGES);
  const [file = APP, ...args] = [...(runner?.(packages) ?? []), APP];
  return [file, ...args, JSON.stringify({ options, packages, ...orders } satisfies SignalledOrders)];
}

async function inTheJob(command: [string, ...string[]], body: (app: ChildScript) => Promise<void>) {
  const app = startScript(...command);
  try {
    await app.line('in the job');
    await body(app);
  } finally {
    app.kill('SIGKILL');
    await app.ended;
  }
}

function statusOf({ code, signal }: Awaited<ChildScript['ended']>): number | null {
  return signal === null ? code : 128 + constants.signals[signal];
}

/** @param signalled the program that gets the signal */
async function assertJobEnds(
  database: TestDatabase,
  signal: Signal,
  how: How,
  signalled: 'first program' | 'application' = 'first program',
): Promise<void> {
  await using dataSource = closing(await migratedDataSource(database));
  await inTheJob(await commandOf(database, how), async (app) => {
    assert.equal((await lockRows(dataSource))[0]?.held, true);
    if (signalled === 'application')
      process.kill(Number(app.lines.find((line) => line.startsWith('process '))?.slice(8)), signal);
    else app.kill(signal);
    const ending = await app.ended;
    assert.ok(app.lines.includes('job ended'), `the process ended before its job: ${JSON.stringify(ending)}`);
    assert.equal(statusOf(ending), 128 + constants.signals[signal]);
    assert.equal((await lockRows(dataSource))[0]?.held, false, 'lock_until is at most now');
  });
}

void suite('a signal during a job, beside other listeners', { concurrency: 2, timeout: 600_000 }, () => {
  // Docker, Kubernetes and systemd send SIGTERM; PM2 and Ctrl-C send SIGINT. SIGKILL follows only if the job does not end.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    for (const [what, orders] of Object.entries(BESIDE))
      testWith(
        'sqlite',
        `${signal} beside ${what}: the job ends, its lock is free, and the process ends by the signal (F-13)`,
        (database) => assertJobEnds(database, signal, { orders }),
      );
  }

  for (const [name, runner] of Object.entries(RUNNERS))
    testWith(
      'sqlite',
      `SIGTERM to ${name}: the job of its application ends, its lock is free, and the status is the signal's (F-13)`,
      (database) => assertJobEnds(database, 'SIGTERM', { runner }),
    );

  testWith(
    'sqlite',
    "SIGTERM to an application under tsx: its job ends, its lock is free, and the status is the signal's (F-13)",
    (database) => {
      const runner = (packages: string): string[] => [join(packages, 'tsx/dist/cli.mjs')];
      // tsx itself would kill an application that does not answer within 30 ms.
      return assertJobEnds(database, 'SIGTERM', { runner }, 'application');
    },
  );

  testWith(
    'sqlite',
    'nodemon --signal SIGTERM restarts an application after its job has ended',
    async (database) => {
      await using dataSource = closing(await migratedDataSource(database));
      await inTheJob(await commandOf(database, { runner: RUNNERS.nodemon }), async (app) => {
        app.kill('SIGUSR2'); // As if a file had changed.
        await app.line('in the job', 2);
        assert.deepEqual(
          app.lines.filter((line) => /^(in the job|job ended)$/.test(line)),
          ['in the job', 'job ended', 'in the job'],
        );
        assert.equal((await lockRows(dataSource)).length, 1, 'both have had the same lock');
      });
    },
  );

  testWith(
    'sqlite',
    'SIGTERM to a Nest application beside proper-lockfile: the job ends, its lock is free, and the process ends by the signal (F-13)',
    async (database) => {
      await using dataSource = closing(await migratedDataSource(database));
      await dataSource.query('CREATE TABLE invoices (id INT PRIMARY KEY)');
      const environment = {
        ...database.environment,
        NODE_OPTIONS: `--require ${join(await installed(PACKAGES), 'proper-lockfile')}`,
      };
      await using app = closing(
        new Child<AppMessage>('../../integrations/nestjs/shutdown/app.js', { environment }),
      );
      await app.received('enter');
      app.kill('SIGTERM');
      await app.received('closing');
      app.send({ word: 'finish' });
      assert.deepEqual(await app.endedWithin(60_000), [null, 'SIGTERM']);
      await app.received('leave');
      assert.equal((await lockRows(dataSource))[0]?.held, false, 'lock_until is at most now');
    },
  );
});
