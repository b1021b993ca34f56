import { Frames } from './frames';
import type { Answer, SentStatement, Wire } from './wire';

/**
 * The protocol of PostgreSQL, version 3, as pg speaks it: after each statement it waits until the server is
 * ready for the next one.
 */
export class PostgresWire implements Wire {
  readonly #client = new Frames((unread) => lengthOf(unread, this.#typeLength));
  readonly #server = new Frames((unread) => lengthOf(unread, 1));
  readonly #prepared = new Map<string, string>();
  /** The statements after which the server becomes ready, in order. */
  readonly #asked: (SentStatement | undefined)[] = [];
  /** The reply so far. */
  readonly #answer: Buffer[] = [];
  #typeLength = 0; // The first message, which opens the session, has no type.
  #bound: SentStatement | undefined;
  #isOpen = false;
  #isOk = false;

  sent(piece: Buffer): SentStatement[] {
    const statements: SentStatement[] = [];
    for (const message of this.#client.read(piece)) {
      const statement = this.#typeLength === 0 ? undefined : this.#read(message);
      if (statement !== undefined) statements.push(statement);
      this.#typeLength = 1;
    }
    return statements;
  }

  answered(piece: Buffer): Answer[] {
    const answers: Answer[] = [];
    for (const message of this.#server.read(piece)) {
      const answer = this.#hear(message);
      if (answer !== undefined) answers.push(answer);
    }
    return answers;
  }

  rest(): Buffer {
    return Buffer.concat([...this.#answer, this.#server.rest]);
  }

  #read(message: Buffer): SentStatement | undefined {
    const [first = '', second = ''] = message.toString('utf8', 5).split('\0');
    switch (typeOf(message)) {
      case 'Q': {
        const statement = { text: first, message, isPreparation: false };
        this.#asked.push(statement);
        return statement;
      }
      case 'P': // Parse: the name, and the text
        this.#prepared.set(first, second);
        return first === '' ? undefined : { text: second, message, isPreparation: true };
      case 'B': // Bind: a portal, and the name of the statement to run in it
        this.#bound = { text: this.#prepared.get(second) ?? '', message, isPreparation: false };
        return this.#bound;
      case 'S': // Sync
        this.#asked.push(this.#bound);
        this.#bound = undefined;
    }
    return undefined;
  }

  #hear(message: Buffer): Answer | undefined {
    const type = typeOf(message);
    if (this.#isOpen && this.#asked.length > 0) {
      this.#answer.push(message);
      if (type === 'C') this.#isOk = true; // CommandComplete
      if (type === 'E') this.#isOk = false; // ErrorResponse
      return type === 'Z' ? this.#complete() : undefined;
    }
    if (type === 'Z') this.#isOpen = true; // ReadyForQuery
    return { bytes: message, statement: undefined, isOk: false };
  }

  #complete(): Answer {
    const answer = {
      bytes: Buffer.concat(this.#answer),
      statement: this.#asked.shift(),
      isOk: this.#isOk,
    };
    this.#answer.length = 0;
    this.#isOk = false;
    return answer;
  }
}

function lengthOf(unread: Buffer, typeLength: number): number | undefined {
  return unread.length < typeLength + 4 ? undefined : typeLength + unread.readInt32BE(typeLength);
}

function typeOf(message: Buffer): string {
  return String.fromCharCode(message[0] ?? 0);
}
