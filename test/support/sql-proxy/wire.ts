/** A statement on its way to a server. */
export interface SentStatement {
  readonly text: string;
  /** As it was sent, with its values, each behind its length. */
  readonly message: Buffer;
  /** The server is only asked to keep it. */
  readonly isPreparation: boolean;
}

/** What the server says at a time: an answer to a statement, or something else. */
export interface Answer {
  readonly bytes: Buffer;
  readonly statement: SentStatement | undefined;
  /** The server did what it was asked to. */
  readonly isOk: boolean;
}

/** Reads the protocol of a database on one connection, whatever pieces it comes in. */
export interface Wire {
  /** @returns the statements that are complete with this piece of what the client sends */
  sent(piece: Buffer): readonly SentStatement[];
  /** @returns all that is complete with this piece of what the server sends: together it is all that was sent */
  answered(piece: Buffer): readonly Answer[];
  /** What the server has begun to say. */
  rest(): Buffer;
}
