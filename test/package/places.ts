import { Project } from './project';
import { ALL_PACKAGES, overrides, SUBPATHS, versioned, type Subpath } from './subpaths';

const RUNNERS = ['jest', 'vitest'];
const NODE_TYPES = '@types/node';
const WHOLE = [...ALL_PACKAGES, ...RUNNERS];

/** Projects in which the tarball is installed. */
export class Places implements Disposable {
  /** Nothing else is installed in it, except for what the library depends on. */
  readonly bare = new Project();
  /** With everything that any subpath needs, and with the test runners. */
  readonly whole = new Project({ overrides });
  readonly #alone = new Map<Subpath, Project>();
  readonly #typed = new Map<Subpath, Project>();

  /** With the packages that this subpath needs, and no others. */
  alone(subpath: Subpath): Project {
    return this.#alone.get(subpath) ?? this.bare;
  }

  /** Also with the packages that its declarations need. */
  typed(subpath: Subpath): Project {
    return this.#typed.get(subpath) ?? this.alone(subpath);
  }

  /** As users have them: every package comes from the registry. */
  async install(tarball: string, tell: (what: string) => void): Promise<void> {
    tell('installing the tarball alone');
    await this.bare.install(tarball);
    for (const [project, names] of this.#makeSmall()) {
      tell(`installing the tarball with ${names.join(', ')}`);
      await project.install(tarball, ...names.map(versioned));
    }
    tell(`installing the tarball with all of these, ${RUNNERS.join(' and ')}`);
    await this.whole.install(tarball, ...WHOLE.map(versioned));
  }

  /** Faster, and without a registry: packages other than the tarball are those of the repository. */
  async link(tarball: string): Promise<void> {
    await this.bare.install(tarball);
    const lists = new Map([...this.#makeSmall(), [this.whole, WHOLE]]);
    for (const [project, names] of lists) {
      project.copyLibrary(this.bare);
      for (const name of names) project.link(name);
    }
  }

  /** A project for each subpath that needs packages, and another one if its declarations need more. */
  #makeSmall(): Map<Project, string[]> {
    const lists = new Map<Project, string[]>();
    const make = (projects: Map<Subpath, Project>, subpath: Subpath, names: readonly string[]): void => {
      const project = new Project({ overrides });
      projects.set(subpath, project);
      lists.set(project, [...new Set([...names, NODE_TYPES])]);
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
