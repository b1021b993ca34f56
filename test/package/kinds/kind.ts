import type { Places } from '../places';
import type { Subpath } from '../subpaths';

/** The tools that projects are tried with: a version of Node, or of the compiler. */
export interface Tool {
  /** As in the head of the table: `Node 20`, `TS 5.4`. */
  readonly name: string;
  readonly family: 'Node' | 'TypeScript';
  /** The executable, or the compiler's script. */
  readonly path: string;
}

/** Why a subpath cannot be used. */
export type Failure = string;

/** A way in which applications use the library. */
export interface ProjectKind {
  readonly name: string;
  readonly family: Tool['family'];
  /** Names of tools that cannot have such projects. */
  readonly without?: readonly string[];
  /** @returns why subpaths fail; a subpath without an entry can be used */
  readonly failures: (tool: Tool, places: Places) => Promise<ReadonlyMap<Subpath, Failure>>;
}
