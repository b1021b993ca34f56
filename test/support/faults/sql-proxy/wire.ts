/** A statement on its way to a server. */
export interface SentStatement {
  readonly text: string;
  /** As it was sent, with its values, each after its length. */
  readonly message: Buffer;
  /** The server only prepares it. */
  readonly isPreparation: boolean;
}

/** A message of the server: a reply to a statement, or something else. */
export interface Answer {
  readonly bytes: Buffer;
  readonly statement: SentStatement | undefined;
  /** The statement succeeded. */
  readonly isOk: boolean;
}

/** Reads the protocol of a database on one connection, in pieces of any size. */
export interface Wire {
  /** @returns the statements that this piece of the client's data completes */
  sent(piece: Buffer): readonly SentStatement[];
  /**
   * @returns the messages that this piece of the server's data completes: together they are everything that
   * was sent
   */
  answered(piece: Buffer): readonly Answer[];
  /** The bytes of an incomplete message. */
  rest(): Buffer;
}
