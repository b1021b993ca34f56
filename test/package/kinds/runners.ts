import type { Ended } from '../../support/processes/command';
import { SUBPATHS, type Subpath } from '../subpaths';
import { commonModuleOf, moduleOf, useName } from '../use';
import type { Failure, ProjectKind } from './kind';

/** Test runners that load modules in their own way. */
export const RUNNER_KINDS: readonly ProjectKind[] = [
  {
    name: 'Jest',
    family: 'Node',
    async failures(tool, { whole }) {
      for (const subpath of SUBPATHS) {
        whole.write(`jest/${useName(subpath)}.spec.js`, `${commonModuleOf(subpath)}\ntest('it', use);\n`);
      }
      whole.write('jest.config.js', `module.exports = { transform: {}, roots: ['<rootDir>/jest'] };\n`);
      const options = ['--json', '--runInBand', '--watchman=false'];
      return failuresIn(await whole.run(tool.path, 'node_modules/jest/bin/jest.js', ...options));
    },
  },
  {
    name: 'Vitest',
    family: 'Node',
    async failures(tool, { whole }) {
      for (const subpath of SUBPATHS) {
        const text = `import { test } from 'vitest';\n${moduleOf(subpath)}\ntest('it', use);\n`;
        whole.write(`vitest/${useName(subpath)}.spec.mjs`, text);
      }
      const options = ['run', '--reporter=json', '--dir', 'vitest'];
      return failuresIn(await whole.run(tool.path, 'node_modules/vitest/vitest.mjs', ...options));
    },
  },
];

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly failureMessages: string[] }[];
  }[];
}

/** Jest's format, which Vitest shares. A file that was not run counts as failed. */
function failuresIn({ stdout, stderr }: Ended): Map<Subpath, Failure> {
  const start = stdout.indexOf('{');
  if (start < 0) return new Map(SUBPATHS.map((subpath) => [subpath, `no report: ${stdout}${stderr}`]));
  const { testResults } = JSON.parse(stdout.slice(start)) as Report;
  const failures = new Map<Subpath, Failure>();
  for (const subpath of SUBPATHS) {
    const result = testResults.find(({ name }) => name.includes(`/${useName(subpath)}.spec.`));
    const tests = result?.assertionResults ?? [];
    if (tests.length === 1 && tests[0]?.status === 'passed') continue;
    const messages = tests.flatMap(({ failureMessages }) => failureMessages);
    failures.set(subpath, [result?.message ?? 'it was not run', ...messages].join('\n'));
  }
  return failures;
}
