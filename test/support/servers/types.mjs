/**
 * The types that the files of this folder share.
 *
 * @typedef {object} RunningServer
 * @property {string} name the recipe's name, for example 'mysql'
 * @property {string} url names no database, unless the recipe shares one
 * @property {string} version as the server itself reported it
 * @property {'environment' | 'binary' | '.servers' | 'docker'} origin
 * @property {number} [pid] of a private instance
 * @property {() => Promise<void>} stop ends the server and removes its data; a server named by an environment
 * variable is left alone
 *
 * @typedef {object} Mortal
 * @property {(signal?: 'SIGKILL' | 'SIGTERM') => Promise<void>} kill resolves when the server has ended; port
 * and data stay. Default: SIGKILL; SIGTERM is a clean shutdown
 * @property {() => Promise<void>} restart on the same port and data, after a clean shutdown if it still runs;
 * resolves when the server is ready again
 *
 * @typedef {RunningServer & Mortal} OwnServer
 *
 * @typedef {object} Program how to run a server's program
 * @property {string} file
 * @property {string[]} args what comes before the server's own arguments; when `file` only starts it, the
 * server is last
 * @property {string} [root] the folder into which it was unpacked, if it was
 * @property {string} version
 * @property {string} [place] where it was found, if `file` and `args` do not show it
 *
 * @typedef {object} Recipe everything that is special about one kind of server
 * @property {string} name
 * @property {string} label its name in messages
 * @property {Partial<Record<'debian' | 'ubuntu', PackageSource>>} packages
 * @property {Unpacked[]} [needs] other programs that `find` looks for, and that may have to be fetched before
 * @property {number} containerPort of the service called `name` in compose.yaml
 * @property {(root?: string) => Promise<Program>} find on the machine, or unpacked under `root`; rejects with the reason
 * @property {(program: Program, folder: string) => Promise<unknown>} initialize creates the data in an empty folder
 * @property {(program: Program, folder: string, port: number) => { args: string[], hastily?: string[], ready: RegExp }} serve
 *   `hastily`: arguments to add if the data need not survive a crash of the server
 * @property {'SIGINT'} [shutdownSignal] of a clean shutdown that does not wait for clients, if that is not SIGTERM
 * @property {(folder: string) => string[]} [cleanUp] the command that removes what a killed server leaves in the system,
 *   outside of its folder
 * @property {boolean} [inMemory] its data belongs in memory where the system has such a folder, because it waits for the
 *   disk at each write
 * @property {boolean} [sharesDatabase] a database cannot be created: tests share the one that the URL names, each with
 *   its own keys
 * @property {(port: number) => string} url
 * @property {(url: string) => Promise<string>} askVersion asks the server itself
 * @property {(version: string) => string | undefined} objectionTo why a version is not the requested server,
 * if it is not
 *
 * @typedef {Pick<Recipe, 'name' | 'label' | 'packages' | 'needs'> & { find: (root?: string) => Promise<any> }}
 * Unpacked a fetched and unpacked program need not be a server
 *
 * @typedef {object} PackageSource
 * @property {string} [suite] default: the machine's own
 * @property {string} packagePrefix the package's name without the version that some suites put at its end
 * @property {string[]} [parts] names of further packages, other than libraries, that the program needs to
 * run; a suite need not have them all
 * @property {RegExp} [only] if it is given, no other further packages are needed, and no libraries
 */
export {};
