import { refuseOption } from '../../core/options';

/**
 * A text as the name of a node. ZooKeeper refuses `/`, `.`, `..`, control characters and everything outside of the
 * basic plane, so all but plain characters are written as in a URL. Different texts have different names.
 */
export function encodeNodeName(text: string): string {
  return /^\.\.?$/.test(text) ? text.replaceAll('.', '%2E') : encodeURIComponent(text);
}

/** @returns `undefined` for a node that `encodeNodeName` did not name */
export function decodeNodeName(node: string): string | undefined {
  try {
    const text = decodeURIComponent(node);
    return encodeNodeName(text) === node ? text : undefined;
  } catch {
    return undefined; // Another program has created this node.
  }
}

/** A node in the queue of a lock. The first one holds the lock. */
export interface QueuedNode {
  readonly path: string;
  readonly owner: string;
  /** A signed 32-bit number, which overflows. */
  readonly sequence: number;
}

/** The queue of a lock in its order, without other children. */
export function queueOf(lock: string, children: readonly string[]): readonly QueuedNode[] {
  const nodes = children.flatMap((node) => {
    // ZooKeeper pads to ten characters, with the sign.
    const [, owner, digits] = /^(.*?)-(\d{10}|-[12]\d{9}|-\d{9})$/.exec(node) ?? [];
    if (owner === undefined) return [];
    return [{ path: `${lock}/${node}`, owner: decodeNodeName(owner) ?? owner, sequence: Number(digits) }];
  });
  return nodes.sort((a, b) => (a.sequence - b.sequence) | 0);
}

/** @throws InvalidLockConfigurationError for a path that ZooKeeper would refuse */
export function checkPath(path: unknown): asserts path is string {
  const isPath =
    typeof path === 'string' &&
    path.startsWith('/') &&
    path
      .slice(1)
      .split('/')
      .every((part) => part !== '' && !/^\.\.?$|[\p{C}\u{fff0}-\u{10ffff}]/u.test(part));
  if (isPath) return;
  refuseOption(
    'path',
    path,
    "it must be the absolute path of a node, such as '/cronlatch', without a slash at its end, empty parts, '.', '..' or control characters",
  );
}
