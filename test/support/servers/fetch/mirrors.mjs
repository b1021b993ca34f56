import { run } from '../process/run.mjs';

const rolling = ['oldstable', 'stable', 'testing', 'unstable', 'sid'];

/**
 * The mirrors from which this machine gets its own packages. apt lists them, because it reads every format of
 * its sources.
 *
 * @param {import('./distribution.mjs').Distribution} distribution
 */
export async function mirrorsOf({ codename }) {
  // --no-release-info, or apt lists only what it has updated before, which in a fresh container is nothing.
  const fields = '$(RELEASE) $(REPO_URI)';
  const args = [
    'indextargets',
    '--no-release-info',
    '--format',
    fields,
    'Created-By: Packages',
    'Component: main',
  ];
  const mirrors = (await run('apt-get', args))
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([suite, uri]) => [codename, ...rolling].includes(suite) && uri && !uri.startsWith('cdrom:'))
    .map(([, uri]) => uri);
  return [...new Set(mirrors)];
}
