import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { refuseCrash } from '#cronlatch/storage/better-sqlite3/installed-driver';
import { Project } from '../package/project';
import { commandWith, type Ended } from '../support/processes/command';

const OLD_HEADERS = Buffer.from('\0AddEnvironmentCleanupHook\0');
const NEW_HEADERS = Buffer.from('\0RemoveEnvironmentCleanupHook\0');

const isRefused = (node: string, version: string, binary?: Buffer): boolean => {
  try {
    refuseCrash(node, version, binary);
    return false;
  } catch {
    return true;
  }
};

for (const [node, version, binary, expected] of [
  ['20.19.0', '12.11.1', OLD_HEADERS, false],
  ['20.19.0', '13.0.0', undefined, true],
  ['21.7.3', '13.2.0', undefined, true],
  ['22.13.0', '13.0.0', undefined, false],
  ['22.23.3', '12.11.1', OLD_HEADERS, false],
  ['24.18.1', '12.11.1', OLD_HEADERS, false],
  ['24.18.1', '12.11.1', NEW_HEADERS, true],
  ['24.19.0', '11.10.0', NEW_HEADERS, true],
  ['24.21.0', '12.11.1', NEW_HEADERS, true],
  // A downloaded binary was compiled with older headers, which do not call the function.
  ['24.21.0', '12.11.1', OLD_HEADERS, false],
  ['24.21.0', '12.11.1', undefined, false],
  ['24.21.0', '13.2.0', undefined, false],
  // From 26.4 on, Node allows the call.
  ['26.10.0', '12.11.1', NEW_HEADERS, false],
  ['26.10.0', '14.0.0', undefined, false],
] as const) {
  const compiled = binary === NEW_HEADERS ? ' compiled for Node 24.19' : '';
  void test(`Node ${node} ${expected ? 'refuses' : 'accepts'} better-sqlite3 ${version}${compiled}`, () => {
    assert.equal(isRefused(node, version, binary), expected);
  });
}

/** Applications whose driver ends the process as soon as it opens a file. */
const projects: Project[] = [];
after(() => projects.forEach((project) => project[Symbol.dispose]()));

function applicationWith(version: string, node: string, binary = ''): Project {
  const project = new Project();
  projects.push(project);
  for (const path of ['package.json', 'dist'])
    cpSync(path, join(project.folder, 'node_modules/cronlatch', path), { recursive: true });
  for (const name of ['commander', 'typeorm', 'reflect-metadata']) project.link(name);
  const driver = 'node_modules/better-sqlite3';
  project.write(`${driver}/package.json`, JSON.stringify({ name: 'better-sqlite3', version }));
  project.write(`${driver}/index.js`, 'module.exports = class { constructor() { process.abort(); } };');
  if (binary !== '') project.write(`${driver}/build/Release/better_sqlite3.node`, binary);
  project.write(
    'node-version.cjs',
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } });`,
  );
  return project;
}

function runIn({ folder: cwd }: Project, ...args: string[]): Promise<Ended> {
  // Links stay in the application, and so find its driver. Other packages come from the repository.
  const env = { NODE_PATH: resolve('node_modules') };
  return commandWith({ cwd, env }, process.execPath, [
    '--preserve-symlinks',
    '--require',
    './node-version.cjs',
    ...args,
  ]);
}

const ON_NODE_20 = /crashes Node 20\.19\.0, because it needs Node 22 or later\. Install version 12: /;
const ON_NODE_24 =
  /better-sqlite3 12\.11\.1 aborts the process on Node 24\.21\.0, .* Install version 13: npm install better-sqlite3@13/;
const CRASHES = [
  { version: '13.2.0', node: '20.19.0', binary: '', expected: ON_NODE_20 },
  { version: '12.11.1', node: '24.21.0', binary: NEW_HEADERS.toString(), expected: ON_NODE_24 },
];

for (const { version, node, binary, expected } of CRASHES) {
  for (const [subpath, source] of [
    ['better-sqlite3', `'sqlite:jobs.db'`],
    ['typeorm', `{ options: { type: 'better-sqlite3', database: 'jobs.db' }, driver: {} }`],
  ])
    void test(`cronlatch/${subpath} refuses better-sqlite3 ${version} on Node ${node} before it opens a file`, async () => {
      const project = applicationWith(version, node, binary);
      project.write(
        'guard.cjs',
        `const { createJobGuard } = require('cronlatch/${subpath}');
         createJobGuard(${source}).catch(({ code, message }) => console.log(code, message));`,
      );
      const { status, stdout, stderr } = await runIn(project, 'guard.cjs');
      assert.deepEqual([status, stderr], [0, '']);
      assert.match(stdout, /^CRONLATCH_INVALID_CONFIGURATION better-sqlite3 /);
      assert.match(stdout, expected);
    });

  void test(`init refuses better-sqlite3 ${version} on Node ${node} before it opens a file`, async () => {
    const project = applicationWith(version, node, binary);
    const main = 'node_modules/cronlatch/dist/cli/main.js';
    const { status, stderr } = await runIn(project, main, 'init', '--url', 'sqlite:jobs.db');
    assert.equal(status, 2);
    assert.match(stderr, expected);
  });
}
