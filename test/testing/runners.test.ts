import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { lockProviderContract, type LockProviderFixture } from 'cronlatch/contracts';
import { Application, COMPILED, ROOT, SOURCES, type Ended } from './application';

/** Of the two compilations, the one that this file belongs to. */
const STANDARD = COMPILED.includes(join('.build', 'standard'));

interface Runner {
  readonly name: string;
  /** Its folder among the fixtures. */
  readonly folder: string;
  /** Whether it is given TypeScript as it was written, or what the compiler made of it. */
  readonly compiles: boolean;
  /** Files that an application has at its top, all others being in the runner's folder. */
  readonly configuration: readonly string[];
  readonly command: readonly string[];
  readonly results: (ended: Ended) => Results;
}

interface Results {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
}

const RUNNERS: readonly Runner[] = [
  {
    name: 'node:test',
    folder: 'node-test',
    compiles: false,
    configuration: [],
    command: ['--test', '--test-reporter=tap'],
    results: resultsOfTap,
  },
  {
    name: 'Jest',
    folder: 'jest',
    compiles: false,
    configuration: ['jest.config.js'],
    command: [join(ROOT, 'node_modules/jest/bin/jest.js'), '--json', '--runInBand', '--watchman=false'],
    results: resultsOfJson,
  },
  {
    name: 'Vitest',
    folder: 'vitest',
    compiles: true,
    configuration: [STANDARD ? 'vitest.config.mts' : 'tsconfig.json'],
    command: [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--reporter=json'],
    results: resultsOfJson,
  },
];

for (const runner of RUNNERS) {
  void test(`${runner.name} runs the tests of an application`, async () => {
    using application = applicationOf(runner);
    const ended = await application.node(...runner.command);
    assert.deepEqual(outcomeOf(runner, ended), { status: 0, passed: testsOf(runner).sort(), failed: [] });
  });

  void test(`${runner.name} fails if a job has another lock than its test expects`, async () => {
    using application = applicationOf(runner);
    application.replace(`billing-jobs${extensionOf(runner)}`, `'send-reminders'`, `'send-remainders'`);
    const { status, failed } = outcomeOf(runner, await application.node(...runner.command));
    assert.equal(status, 1);
    assert.ok(failed.includes('no reminders are sent here while another instance sends them'));
  });
}

/** An application whose tests are for this runner. */
function applicationOf(runner: Runner): Application {
  const application = new Application();
  const extension = extensionOf(runner);
  const code = runner.compiles ? SOURCES : COMPILED;
  application.copy(join(code, `billing-jobs${extension}`), `billing-jobs${extension}`);
  for (const file of readdirSync(join(code, runner.folder)).filter((name) => name.endsWith(extension)))
    application.copy(join(code, runner.folder, file), `${runner.folder}/${file}`);
  for (const file of runner.configuration) application.copy(join(SOURCES, runner.folder, file), file);
  return application;
}

function extensionOf(runner: Runner): string {
  return runner.compiles ? '.ts' : '.js';
}

/** The names of the tests in the fixtures: a runner that runs fewer of them fails here. */
function testsOf({ folder }: Runner): string[] {
  const files = readdirSync(join(SOURCES, folder)).filter((name) => /\.(test|spec)\.ts$/.test(name));
  const texts = files.map((name) => readFileSync(join(SOURCES, folder, name), 'utf8'));
  const names = texts.flatMap((text) => [...text.matchAll(/^test\('(.+)',/gm)].map(([, name = '']) => name));
  assert.ok(names.length >= 3);
  const contracts = texts.filter((text) => text.includes('lockProviderContract('));
  return [...names, ...contracts.flatMap(() => lockProviderContract(neverCalled).map(({ name }) => name))];
}

function neverCalled(): LockProviderFixture {
  throw new Error('Only the names were asked for.');
}

function outcomeOf({ results }: Runner, ended: Ended): Results & { status: number } {
  const { passed, failed } = results(ended);
  return { status: ended.status, passed: [...passed].sort(), failed: [...failed].sort() };
}

function resultsOfTap({ stdout }: Ended): Results {
  const names = (pattern: RegExp): string[] => [...stdout.matchAll(pattern)].map(([, name = '']) => name);
  return { passed: names(/^ *ok \d+ - (.+?)(?: # SKIP .+)?$/gm), failed: names(/^ *not ok \d+ - (.+)$/gm) };
}

interface JsonReport {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

/** Jest's format, which Vitest shares. */
function resultsOfJson({ stdout, stderr }: Ended): Results {
  assert.ok(stdout.startsWith('{'), `no report, but: ${stdout}${stderr}`);
  const { testResults } = JSON.parse(stdout) as JsonReport;
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const titles = (status: string): string[] =>
    results.filter((result) => result.status === status).map(({ title }) => title);
  return { passed: titles('passed'), failed: titles('failed') };
}
