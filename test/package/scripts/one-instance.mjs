// Loads the subpath in its argument with `import` and with `require` in one process: both must share one
// instance.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import * as library from 'cronlatch';
import { InMemoryLockProvider } from 'cronlatch/memory';

const [, , specifier] = process.argv;
const require = createRequire(import.meta.url);
const imported = await import(specifier);
const required = require(specifier);

const names = Object.keys(required);
assert.ok(names.length > 0);
for (const name of names) assert.equal(imported[name], required[name], name);

// A method that one copy decorated runs through the guard that the other copy was given, and sees its lock.
const guard = new library.JobGuard({ lockProvider: new InMemoryLockProvider() });
const common = require('cronlatch');
const job = { value: async () => library.currentLock()?.name };
common.SchedulerLock('job', '1m')({}, 'job', job);
library.configureJobGuard(guard);
assert.equal(await job.value(), 'job');
const task = common.currentLock;
assert.equal(
  await guard.run({ name: 'other', lockAtMostFor: '1m' }, () => task()?.name).then(({ value }) => value),
  'other',
);
await guard.close();
