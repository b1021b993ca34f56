import { Project } from './project';
import { ALL_PEERS, overrides, SUBPATHS, versioned, type Subpath } from './subpaths';

const RUNNERS = ['jest', 'vitest'];
const NODE_TYPES = '@types/node';

/** Projects in which the tarball is installed. */
export class Places implements Disposable {
  /** Nothing else is installed there. */
  readonly bare = new Project();
  /** With all that any subpath needs, and with test runners. */
  readonly whole = new Project({ overrides });
  readonly #alone = new Map<Subpath, Project>();
  readonly #typed = new Map<Subpath, Project>();

  /** With what this subpath needs, and nothing that another one does. */
  alone(subpath: Subpath): Project {
    return this.#alone.get(subpath) ?? this.bare;
  }

  /** With what its declarations need as well. */
  typed(subpath: Subpath): Project {
    return this.#typed.get(subpath) ?? this.alone(subpath);
  }

  /** As users have them: all comes from the registry. */
  async install(tarball: string, tell: (what: string) => void): Promise<void> {
    tell('installing the tarball alone');
    await this.bare.install(tarball);
    for (const [project, names] of this.#makeSmall()) {
      tell(`installing the tarball with ${names.join(', ')}`);
      await project.install(tarball, ...names.map(versioned));
    }
    tell(`installing the tarball with all of these, ${RUNNERS.join(' and ')}`);
    await this.whole.install(tarball, ...[...ALL_PEERS, NODE_TYPES, ...RUNNERS].map(versioned));
  }

  /** Quicker, and without a registry: packages other than the tarball are those of the repository. */
  async link(tarball: string): Promise<void> {
    await this.bare.install(tarball);
    const lists = new Map([...this.#makeSmall(), [this.whole, [...ALL_PEERS, NODE_TYPES, ...RUNNERS]]]);
    for (const [project, names] of lists) {
      project.copyLibrary(this.bare);
      for (const name of names) project.link(name);
    }
  }

  /** A project for each subpath that needs something, and another one if its declarations need more. */
  #makeSmall(): Map<Project, string[]> {
    const lists = new Map<Project, string[]>();
    const make = (projects: Map<Subpath, Project>, subpath: Subpath, names: readonly string[]): void => {
      const project = new Project({ overrides });
      projects.set(subpath, project);
      lists.set(project, [...names, NODE_TYPES]);
    };
    for (const subpath of SUBPATHS) {
      const { peers, typePeers } = subpath;
      if (peers.length > 0) make(this.#alone, subpath, peers);
      if (typePeers.length > 0) make(this.#typed, subpath, [...peers, ...typePeers]);
    }
    return lists;
  }

  [Symbol.dispose](): void {
    for (const project of [this.bare, this.whole, ...this.#alone.values(), ...this.#typed.values()])
      project[Symbol.dispose]();
  }
}
