import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { testOperated } from './operated';
import { started } from './started';

const SQLITE = JSON.stringify(resolve('dist/integrations/better-sqlite3/index.js'));

testOperated(
  '--app knows calendars and key functions, starts no runs, and the command still ends',
  async (bench) => {
    const folder = dirname(bench.url.replace('sqlite:', ''));
    const app = join(folder, 'app.cjs');
    const jobs = [
      `bill: { period: 'day', timeZone: 'UTC', calendar: { isBusinessDay: (date) => date !== '2026-11-21' } }`,
      `'by-key': { period: () => 'key', timeZone: 'UTC' }`,
    ];
    // As in an application, something keeps the process alive.
    writeFileSync(
      app,
      `setInterval(() => {}, 1000);
    exports.guard = require(${SQLITE}).createJobGuard(${JSON.stringify(bench.url)}).then((guard) => {
      for (const [name, oncePer] of Object.entries({ ${jobs.join(', ')} }))
        guard.wrap({ name, lockAtMostFor: '1m', oncePer }, () => { throw new Error('started'); });
      return guard;
    });`,
    );
    const period = await bench.runDaysAgo('bill', 1, new Error('no disk'));
    await bench.json(`rerun bill ${period} --yes --reason why --app ${app}`);
    assert.equal((await bench.json(`why bill --at 2026-11-20 --app ${app}`))['decision'], 'run');
    assert.equal((await bench.json(`why bill --at 2026-11-21 --app ${app}`))['decision'], 'calendar');
    assert.equal((await bench.json(`why by-key --at now --app ${app}`))['periodKey'], 'key');
    const { runs } = await bench.json(`history bill --app ${app}`);
    assert.deepEqual(
      (runs as { state: string }[]).map(({ state }) => state),
      ['pending'],
    );
  },
);

testOperated('no command starts a job of the application', async ({ url, call, runDaysAgo }) => {
  const app = join(dirname(url.replace('sqlite:', '')), 'app.cjs');
  const job = `{ name: 'bill', lockAtMostFor: '1m', oncePer: { period: 'day', timeZone: 'UTC' } }`;
  writeFileSync(
    app,
    `exports.guard = require(${SQLITE}).createJobGuard(${JSON.stringify(url)}, { logger: false }).then((guard) => {
      const bill = guard.wrap(${job}, () => console.log('started'));
      const poll = async () => void (await guard.runOverdue(), console.log('checked'));
      const { inspect } = guard.locks;
      guard.locks.inspect = async (name) => (await poll(), await inspect.call(guard.locks, name));
      process.stdin.once('end', () => void Promise.all([bill(), poll()])).resume();
      return guard;
    });`,
  );
  const period = await runDaysAgo('bill', 0, new Error('no disk'));
  assert.equal((await call(`rerun bill ${period} --yes --reason why`)).status, 0);
  const held = await call(`pause --lock other --yes --reason why --app ${app}`);
  assert.match(held.stdout, /^checked\n.*\nPaused: /s);
  assert.ok(!held.stdout.includes('started'));
  const skipped = await call(`exec --app ${app} --name other --at-most 1m true`);
  assert.match(skipped.stderr, /^cronlatch: job 'other' skipped: locked by hold\/.+\n$/);
  const args = ['exec', '--app', app, '--name', 'third', '--at-most', '1m', '--', 'sh', '-c'];
  const ran = started([...args, 'exec 0<&-; echo ready; trap "exit 0" TERM; while true; do sleep 0.1; done']);
  await ran.printed('ready');
  ran.endInput();
  await ran.printed('checked');
  ran.kill('SIGTERM');
  assert.ok(!(await ran.ended).stdout.includes('started'));
});

testOperated('why needs no ledger: a guard of an application can have only locks', async ({ url, call }) => {
  const app = join(dirname(url.replace('sqlite:', '')), 'app.cjs');
  writeFileSync(
    app,
    `const { InMemoryLockProvider } = require(${JSON.stringify(resolve('dist/integrations/memory/index.js'))});
    const { JobGuard } = require(${JSON.stringify(resolve('dist/index.js'))});
    const guard = new JobGuard({ lockProvider: new InMemoryLockProvider(), logger: false });
    exports.guard = guard.lockManager().tryLock({ name: 'bill', lockAtMostFor: '1m' }).then(() => guard);`,
  );
  const held = await call(`why bill --app ${app}`);
  assert.equal(held.status, 0);
  assert.match(held.stdout, /^.+ · times in \S+\nLock 'bill' is held by /);
  assert.equal(
    (await call(`why other --app ${app}`)).stdout,
    'other · times in UTC\nNothing keeps it from running.\n',
  );
});
