import type { SentStatement } from './wire';

/** A reply of MySQL, packet by packet. */
export class PendingAnswer {
  readonly packets: Buffer[] = [];
  failed = false;
  /** The server's id of the statement that it prepared. */
  preparedId: number | undefined;
  /** How many packets of the kind EOF are still expected. */
  #eofsLeft = 0;

  constructor(readonly statement: SentStatement | undefined) {}

  get isComplete(): boolean {
    return this.packets.length > 0 && (this.failed || this.#eofsLeft === 0);
  }

  hear(packet: Buffer, payload: Buffer): void {
    const isFirst = this.packets.length === 0;
    this.packets.push(packet);
    if (isError(payload)) this.failed = true;
    else if (!isFirst) this.#eofsLeft -= isEof(payload) ? 1 : 0;
    else if (!isOk(payload))
      this.#eofsLeft = isEof(payload) ? 0 : 2; // Columns, and rows.
    else if (this.statement?.isPreparation) this.#prepared(payload);
  }

  /** Its parameters follow, and its columns, if there are any. */
  #prepared(payload: Buffer): void {
    this.preparedId = payload.readUInt32LE(1);
    const columns = payload.readUInt16LE(5);
    const parameters = payload.readUInt16LE(7);
    this.#eofsLeft = Number(columns > 0) + Number(parameters > 0);
  }
}

export function isOk(payload: Buffer): boolean {
  return payload[0] === 0x00;
}

function isError(payload: Buffer): boolean {
  return payload[0] === 0xff;
}

/** A row may begin with the same byte, but is longer then. */
function isEof(payload: Buffer): boolean {
  return payload[0] === 0xfe && payload.length < 9;
}
