import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { run } from '../process/run.mjs';
import { mirrorsOf } from './mirrors.mjs';

/** @typedef {import('./distribution.mjs').Distribution} Distribution */

// Megabytes may come over a slow line; apt itself gives up on a silent one much earlier.
const downloadLimit = 900_000;

/**
 * An apt that knows one suite of the machine's own mirror, and has its own state in `folder`, in which
 * nothing is installed. Rejects if no mirror of the machine has the suite, or if its signature is not the
 * distribution's.
 *
 * @param {string} folder
 * @param {Distribution} distribution
 * @param {string} suite
 */
export async function openArchive(folder, distribution, suite) {
  const apt = new PrivateApt(folder);
  /** @type {unknown} */ let failure;
  for (const mirror of await mirrorsOf(distribution)) {
    // A mirror's copy can be older than its validity; its signature is verified anyway.
    const options = `[signed-by=${distribution.keyring} check-valid-until=no]`;
    await apt.configure(`deb ${options} ${mirror} ${suite} ${distribution.components}\n`);
    try {
      await apt.get('update');
      return apt;
    } catch (error) {
      failure = error;
    }
  }
  throw (
    failure ??
    new Error(`this machine's apt sources name no mirror of ${distribution.label} ${distribution.codename}`)
  );
}

export class PrivateApt {
  #folder;
  #configuration;

  /** @param {string} folder */
  constructor(folder) {
    this.#folder = folder;
    this.#configuration = join(folder, 'apt.conf');
  }

  /** @param {string} source a line of a sources.list */
  async configure(source) {
    await mkdir(join(this.#folder, 'lists/partial'), { recursive: true });
    await mkdir(join(this.#folder, 'archives/partial'), { recursive: true });
    await writeFile(join(this.#folder, 'status'), '');
    await writeFile(join(this.#folder, 'sources.list'), source);
    await writeFile(this.#configuration, configuration(this.#folder));
  }

  /** @param {string[]} args */
  get(...args) {
    return run('apt-get', ['--config-file', this.#configuration, ...args], { timeout: downloadLimit });
  }

  /** @param {string[]} args */
  cache(...args) {
    return run('apt-cache', ['--config-file', this.#configuration, ...args]);
  }

  /** Resolves to the files. @param {string[]} names */
  async download(names) {
    const folder = join(this.#folder, 'packages');
    await mkdir(folder);
    const options = ['--config-file', this.#configuration, 'download', '-qq'];
    await run('apt-get', [...options, ...names], { cwd: folder, timeout: downloadLimit });
    return (await readdir(folder)).map((file) => join(folder, file));
  }
}

/**
 * Read after the machine's own configuration, so that its proxies and credentials apply.
 *
 * @param {string} folder
 */
function configuration(folder) {
  return `
Dir::State "${folder}";
Dir::State::lists "${folder}/lists";
Dir::State::status "${folder}/status";
Dir::Cache "${folder}";
Dir::Cache::archives "${folder}/archives";
Dir::Log "${folder}";
Dir::Etc::sourcelist "${folder}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "30";
Acquire::https::Timeout "30";
// Tests run nothing unsigned, even if the machine allows it.
Acquire::AllowInsecureRepositories "false";
Acquire::AllowWeakRepositories "false";
APT::Get::AllowUnauthenticated "false";
// Without it an update that got nothing counts as a success.
APT::Update::Error-Mode "any";
// Hooks of the machine, which would touch its own caches.
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
// The folder is ours alone, also when we are root, and apt's own user could not write to it.
APT::Sandbox::User "";
`;
}
