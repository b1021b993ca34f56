import { Frames } from './frames';
import { isOk, PendingAnswer } from './mysql-answer';
import type { Answer, SentStatement, Wire } from './wire';

const HEADER_LENGTH = 4;
const QUERY = 0x03;
const PREPARE = 0x16;
const EXECUTE = 0x17;
/** Commands without a reply: to quit, a part of a long value, to close a prepared statement. */
const UNANSWERED = new Set([0x01, 0x18, 0x19]);

/** The protocol of MySQL and MariaDB, as mysql2 speaks it: with an EOF packet after columns and after rows. */
export class MysqlWire implements Wire {
  readonly #client = new Frames(lengthOf);
  readonly #server = new Frames(lengthOf);
  readonly #prepared = new Map<number, string>();
  /** The expected replies, in order. */
  readonly #pending: PendingAnswer[] = [];
  #isOpen = false;

  sent(piece: Buffer): SentStatement[] {
    const statements: SentStatement[] = [];
    for (const packet of this.#client.read(piece)) {
      if (!this.#isOpen) continue; // The client's handshake response.
      const payload = packet.subarray(HEADER_LENGTH);
      const statement = this.#read(payload);
      if (statement !== undefined) statements.push(statement);
      if (!UNANSWERED.has(payload[0] ?? 0)) this.#pending.push(new PendingAnswer(statement));
    }
    return statements;
  }

  answered(piece: Buffer): Answer[] {
    const answers: Answer[] = [];
    for (const packet of this.#server.read(piece)) {
      const answer = this.#hear(packet, packet.subarray(HEADER_LENGTH));
      if (answer !== undefined) answers.push(answer);
    }
    return answers;
  }

  rest(): Buffer {
    return Buffer.concat([...(this.#pending[0]?.packets ?? []), this.#server.rest]);
  }

  #read(payload: Buffer): SentStatement | undefined {
    switch (payload[0] ?? 0) {
      case QUERY:
        return { text: textAfter(payload, queryStart(payload)), message: payload, isPreparation: false };
      case PREPARE:
        return { text: textAfter(payload, 1), message: payload, isPreparation: true };
      case EXECUTE: {
        const text = this.#prepared.get(payload.readUInt32LE(1)) ?? '';
        return { text, message: payload, isPreparation: false };
      }
      default:
        return undefined;
    }
  }

  #hear(packet: Buffer, payload: Buffer): Answer | undefined {
    const [pending] = this.#pending;
    if (pending === undefined) {
      // The server opens the session, or ends it.
      if (isOk(payload)) this.#isOpen = true;
      return { bytes: packet, statement: undefined, isOk: false };
    }
    pending.hear(packet, payload);
    if (!pending.isComplete) return undefined;
    this.#pending.shift();
    const { statement, packets, failed, preparedId } = pending;
    if (statement !== undefined && preparedId !== undefined) this.#prepared.set(preparedId, statement.text);
    return { bytes: Buffer.concat(packets), statement, isOk: !failed };
  }
}

function lengthOf(unread: Buffer): number | undefined {
  return unread.length < HEADER_LENGTH ? undefined : HEADER_LENGTH + unread.readUIntLE(0, 3);
}

/** If both sides support query attributes, their count (0) and that of their sets (1) precede the text. */
function queryStart(payload: Buffer): number {
  return payload[1] === 0 && payload[2] === 1 ? 3 : 1;
}

function textAfter(payload: Buffer, start: number): string {
  return payload.toString('utf8', start);
}
