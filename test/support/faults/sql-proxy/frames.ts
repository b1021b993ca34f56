/** Assembles messages from pieces of any size. */
export class Frames {
  #unread = Buffer.alloc(0);

  /** @param lengthOf the length of the first message, `undefined` while too little of it is there */
  constructor(private readonly lengthOf: (unread: Buffer) => number | undefined) {}

  /** The messages that this piece completes, each measured after the ones before it were read. */
  *read(piece: Buffer): Generator<Buffer> {
    this.#unread = Buffer.concat([this.#unread, piece]);
    for (let length = this.#complete(); length !== undefined; length = this.#complete()) {
      const message = this.#unread.subarray(0, length);
      this.#unread = this.#unread.subarray(length);
      yield message;
    }
  }

  /** The bytes of an incomplete message. */
  get rest(): Buffer {
    return this.#unread;
  }

  #complete(): number | undefined {
    const length = this.lengthOf(this.#unread);
    return length === undefined || length > this.#unread.length ? undefined : length;
  }
}
