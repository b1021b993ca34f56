import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { before, test } from 'node:test';
import { NPX } from '../../support/processes/command';
import { Project } from '../../package/project';
import { pack } from '../../package/tarball';

let tarball: string;
before(async () => void (tarball = (await pack()).file));

async function installed(...packages: readonly string[]): Promise<Project> {
  const project = new Project();
  await project.install(tarball);
  for (const name of packages) project.link(name);
  return project;
}

const DEMO = ['--no', 'cronlatch', 'demo'];

/** The demo is in real time, so on a busy machine it can only report that. */
const IS_TOO_BUSY = /this machine is too busy/;

void test('npx cronlatch demo runs from the packed package, and completes every tick and the day once', async (t) => {
  using project = await installed('node-cron', 'better-sqlite3');
  const { status, stdout, stderr } = await project.run(NPX, ...DEMO);
  assert.match(stdout, /^cronlatch demo: 4 processes, a job each second, a lock/, stderr);
  assert.match(stdout, /\n\d+ ticks: \d+ ran, .*\nThe job of \S+: called \d+ times, .*\n$/, stderr);
  if (IS_TOO_BUSY.test(stdout)) return t.skip('this machine is too busy');
  assert.deepEqual([status, stderr], [0, ''], stdout);
  assert.match(stdout, / 0 runs repeated a tick, 0 overlapped\.\n/);
  assert.match(stdout, /attempted 3 times, completed once, in the database once\.\n$/);
});

void test('without the lock, the demo reports repeated ticks, and its exit code is 1', async () => {
  using project = await installed('node-cron', 'better-sqlite3');
  const { status, stdout } = await project.run(NPX, ...DEMO, '--without-lock');
  assert.equal(status, 1);
  assert.match(stdout, /\d+ runs repeated a tick\./);
});

void test('Ctrl-C ends the demo and its processes, and removes its file', async () => {
  using project = await installed('node-cron', 'better-sqlite3');
  const main = 'node_modules/cronlatch/dist/cli/main.js';
  const env = { ...process.env, TMPDIR: project.folder };
  const demo = spawn(process.execPath, [main, 'demo'], { cwd: project.folder, env });
  const ended = once(demo, 'close');
  demo.stderr.resume();
  for await (const line of createInterface(demo.stdout)) if (/ w1 /.test(line)) demo.kill('SIGINT');
  assert.deepEqual(await ended, [130, null]);
  assert.deepEqual(
    readdirSync(project.folder).filter((name) => name.startsWith('cronlatch-demo-')),
    [],
  );
});

void test('the demo names the packages that are missing, and how to install them', async () => {
  using bare = await installed();
  const { status, stdout, stderr } = await bare.run(NPX, ...DEMO);
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(
    stderr,
    /^cronlatch: cronlatch demo needs node-cron and better-sqlite3: npm install node-cron better-sqlite3/,
  );
});
