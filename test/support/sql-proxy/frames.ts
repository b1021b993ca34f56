/** Puts together messages that come in any pieces. */
export class Frames {
  #unread = Buffer.alloc(0);

  /** @param lengthOf of the whole message that stands first, `undefined` while too little of it is there */
  constructor(private readonly lengthOf: (unread: Buffer) => number | undefined) {}

  /** The messages that are complete with this piece, each measured when those before it have been read. */
  *read(piece: Buffer): Generator<Buffer> {
    this.#unread = Buffer.concat([this.#unread, piece]);
    for (let length = this.#complete(); length !== undefined; length = this.#complete()) {
      const message = this.#unread.subarray(0, length);
      this.#unread = this.#unread.subarray(length);
      yield message;
    }
  }

  /** What is there of a message that is not complete. */
  get rest(): Buffer {
    return this.#unread;
  }

  #complete(): number | undefined {
    const length = this.lengthOf(this.#unread);
    return length === undefined || length > this.#unread.length ? undefined : length;
  }
}
