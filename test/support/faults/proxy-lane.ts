import type { Socket } from 'node:net';

export type Direction = 'to-server' | 'to-client';

/** How a proxy treats everything that goes through it. */
export interface Traffic {
  readonly stalled: ReadonlySet<Direction>;
  readonly delayMs: number;
  /** Each byte is sent separately. */
  readonly isBytewise: boolean;
}

interface Item {
  /** `undefined`: the end. */
  readonly bytes: Buffer | undefined;
  readonly dueAtMs: number;
  readonly isAlone: boolean;
}

/** One direction of one connection: forwards everything in order, including the end. */
export class ProxyLane {
  readonly #waiting: Item[] = [];
  #timer: NodeJS.Timeout | undefined;
  #pause: NodeJS.Immediate | undefined;
  #isHeld = false;
  #wasHeld = false;

  /** @param piecesLeft how many pieces are forwarded; the end always is */
  constructor(
    private readonly to: Socket,
    private readonly direction: Direction,
    private readonly traffic: Traffic,
    private piecesLeft: number,
  ) {}

  /** From now on only the end is forwarded. */
  mute(): void {
    this.piecesLeft = 0;
    this.#waiting.length = 0;
  }

  /** Until then nothing is forwarded, not even the end. */
  holdUntil(due: Promise<void>): void {
    this.#isHeld = true;
    this.#wasHeld = true;
    void due.then(() => {
      this.#isHeld = false;
      this.pump();
    });
  }

  take(piece: Buffer): void {
    if ((this.piecesLeft -= 1) < 0) return;
    const { delayMs, isBytewise } = this.traffic;
    const dueAtMs = performance.now() + delayMs;
    const parts = isBytewise ? Array.from(piece, (byte) => Buffer.of(byte)) : [piece];
    for (const bytes of parts) this.#waiting.push({ bytes, dueAtMs, isAlone: isBytewise });
    this.pump();
  }

  end(): void {
    const dueAtMs = performance.now() + this.traffic.delayMs;
    this.#waiting.push({ bytes: undefined, dueAtMs, isAlone: false });
    this.pump();
  }

  /** Forwards everything that may go now. */
  pump(): void {
    while (this.#timer === undefined && this.#pause === undefined) {
      const [next] = this.#waiting;
      if (next === undefined || this.#isHeld || this.traffic.stalled.has(this.direction)) return;
      if (next.dueAtMs > performance.now()) this.#timer = setTimeout(this.#goOn, this.#wait(next));
      else this.#send(next);
    }
  }

  stop(): void {
    this.#waiting.length = 0;
    clearTimeout(this.#timer);
    clearImmediate(this.#pause);
  }

  #send({ bytes, isAlone }: Item): void {
    this.#waiting.shift();
    // The receiver still replies to what was held, and the connection ends only afterwards.
    if (bytes === undefined && this.#wasHeld) this.to.end();
    else if (bytes === undefined) this.to.destroySoon();
    else if (this.to.writable) this.to.write(bytes);
    // The receiver runs between two bytes, so it reads them one by one.
    if (isAlone) this.#pause = setImmediate(this.#goOn);
  }

  #wait({ dueAtMs }: Item): number {
    return Math.ceil(dueAtMs - performance.now());
  }

  readonly #goOn = (): void => {
    this.#timer = undefined;
    this.#pause = undefined;
    this.pump();
  };
}
