import type { Interpreter } from './proxied-connection';

/** The types of requests whose replies a test loses. */
export const REQUEST_TYPES = { create: 1, remove: 2, setData: 5 } as const;

/** Finds a request of this type in what a client sends: a length, an id, the type. */
function contains(bytes: Buffer, type: number): boolean {
  for (let at = 0; at + 12 <= bytes.length; at += 4 + bytes.readInt32BE(at))
    if (bytes.readInt32BE(at + 8) === type) return true;
  return false;
}

/**
 * Loses the next reply to a request of a type: the server executes it, and the connection is cut before the reply
 * arrives, or nothing arrives any more.
 */
export class LostReply {
  #next: { readonly type: number; readonly then: 'cut' | 'silence' } | undefined;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  loseNext(type: keyof typeof REQUEST_TYPES, then: 'cut' | 'silence' = 'cut'): void {
    this.#next = { type: REQUEST_TYPES[type], then };
  }

  interpret(): Interpreter {
    let lost: 'cut' | 'silence' | undefined;
    return {
      fromClient: (piece) => {
        if (this.#next === undefined || !contains(piece, this.#next.type)) return undefined;
        lost = this.#next.then;
        this.#next = undefined;
        return undefined;
      },
      fromServer: (bytes) => {
        if (lost === undefined) return { bytes };
        this.#count += 1;
        return { bytes: Buffer.alloc(0), then: lost };
      },
      rest: () => Buffer.alloc(0),
    };
  }
}
