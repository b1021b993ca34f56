import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { testOperated } from './operated';

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
    assert.equal((await bench.json(`explain bill --at 2026-11-20 --app ${app}`))['decision'], 'run');
    assert.equal((await bench.json(`explain bill --at 2026-11-21 --app ${app}`))['decision'], 'calendar');
    assert.equal((await bench.json(`explain by-key --app ${app}`))['periodKey'], 'key');
    const { runs } = await bench.json(`history bill --app ${app}`);
    assert.deepEqual(
      (runs as { state: string }[]).map(({ state }) => state),
      ['pending'],
    );
  },
);
