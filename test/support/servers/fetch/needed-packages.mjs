/**
 * @typedef {import('./private-apt.mjs').PrivateApt} PrivateApt
 * @typedef {{ name: string, version: string, section: string, size: number, depends: string[] }} Package
 */

/**
 * The server's package under its present name, which in some suites ends in a version; of several the newest.
 *
 * @param {PrivateApt} apt
 * @param {import('../types.mjs').PackageSource} source
 * @param {string} from
 */
export async function packageToFetch(apt, { packagePrefix }, from) {
  const names = (await apt.cache('pkgnames', packagePrefix)).split('\n').filter((name) => {
    return name.startsWith(packagePrefix) && /^(-?[\d.]+)?$/.test(name.slice(packagePrefix.length));
  });
  // 'mysql-server-core' is newer than 'mysql-server-core-8.4', because suites drop the version when they have
  // only one.
  const [newest] = names.sort((a, b) => a.length - b.length || b.localeCompare(a, 'en', { numeric: true }));
  if (newest) return newest;
  throw new Error(`${from} has changed: it no longer has a package ${packagePrefix}`);
}

/**
 * The package itself, first, and the libraries that it needs. Their names contain versions and change with
 * the suite. So apt lists everything that an installation on an empty machine would bring, and this function
 * keeps what is reached through libraries and through the named parts, or through `only` what the source names:
 * the Perl that some of a server's scripts need is not needed to run it.
 *
 * @param {PrivateApt} apt
 * @param {{ name: string } & Omit<import('../types.mjs').PackageSource, 'packagePrefix'>} wanted
 * @param {string} from
 */
export async function packagesNeededBy(apt, { name, parts = [], only }, from) {
  const isNeeded = only
    ? (/** @type {Package} */ each) => only.test(each.name)
    : (/** @type {Package} */ each) => each.section.endsWith('libs') || parts.includes(each.name);
  const closure = await installationOf(apt, name, from);
  const needed = new Set([name]);
  for (const reached of needed) {
    for (const dependency of closure.get(reached)?.depends ?? []) {
      const found = closure.get(dependency);
      if (found && isNeeded(found)) needed.add(dependency);
    }
  }
  return [...needed].map((each) => /** @type {Package} */ (closure.get(each)));
}

/** @param {PrivateApt} apt @param {string} name @param {string} from @returns {Promise<Map<string, Package>>} */
async function installationOf(apt, name, from) {
  const uris = await apt
    .get('install', '--print-uris', '-qq', '-y', '--no-install-recommends', name)
    .catch((cause) => {
      throw new Error(`${from} cannot install its own ${name} at present: ${cause.message}`, { cause });
    });
  // Each line: 'URI' name_version_architecture.deb size hash
  const names = [...uris.matchAll(/^'\S+' ([^\s_]+)_/gm)].map((match) => match[1]);
  const stanzas = await apt.cache('show', '--no-all-versions', ...names);
  return new Map(
    stanzas
      .split(/\n\n+/)
      .filter(Boolean)
      .map(readStanza)
      .map((each) => [each.name, each]),
  );
}

/** @param {string} stanza @returns {Package} */
function readStanza(stanza) {
  const field = (/** @type {string} */ name) => new RegExp(`^${name}: (.*)$`, 'm').exec(stanza)?.[1] ?? '';
  return {
    name: field('Package'),
    version: field('Version'),
    section: field('Section'),
    size: Number(field('Size')),
    // 'libc6 (>= 2.38), perl:any, a | b': every alternative, because the closure holds the one that apt
    // chose.
    depends: `${field('Pre-Depends')},${field('Depends')}`
      .split(/[,|]/)
      .map((each) => each.trim().split(/[ :]/)[0]),
  };
}
