import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { assertOnly, promiseOf } from '../../examples/running-example';
import { Project } from '../../package/project';
import { pack } from '../../package/tarball';
import { installed } from '../../support/processes/installed';

for (const name of ['node-cron', 'once-per-business-day', 'retry-and-catch-up'])
  void test(`npx tsx runs the example ${name} from the installed package`, { timeout: 120_000 }, async () => {
    using application = new Project();
    await application.install((await pack()).file);
    for (const peer of ['node-cron', 'typeorm', 'better-sqlite3', 'reflect-metadata']) application.link(peer);
    const tsx = join(await installed('test/processes/signal-listeners'), 'tsx/dist/cli.mjs');
    const file = `node_modules/cronlatch/examples/${name}.ts`;
    const env = { ...process.env, DATABASE_URL: undefined };
    const example = spawn(process.execPath, [tsx, file], { cwd: application.folder, env });
    const ended = once(example, 'close');
    let errors = '';
    example.stderr.on('data', (chunk) => (errors += String(chunk)));
    // A failure is printed on standard error.
    const promised = promiseOf(name).filter((line) => !line.includes('run:failed'));
    const lines: string[] = [];
    for await (const line of createInterface(example.stdout))
      if (lines.push(line) === promised.length) example.kill('SIGTERM');
    await ended;
    assert.ok(lines.length >= promised.length, errors);
    assertOnly(lines.slice(0, promised.length), promised);
  });
