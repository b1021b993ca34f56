/** Messages that a consumer takes one by one. It keeps the asynchronous context in which it was started. */
export class Messages {
  #waiting: (() => void)[] = [];
  #arrived: (() => void) | undefined;
  isOver = false;

  begin(): void {
    this.#waiting = [];
    this.isOver = false;
  }

  end(): void {
    this.isOver = true;
    this.#arrived?.();
  }

  /** Resolves when a consumer has handled the message. */
  async send(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      this.#arrived?.();
    });
  }

  async takeOne(handle: () => Promise<unknown>): Promise<void> {
    const handled = this.#waiting.shift();
    if (handled === undefined) return;
    await handle();
    handled();
  }

  async consume(handle: () => Promise<unknown>): Promise<void> {
    while (!this.isOver) {
      if (this.#waiting.length > 0) await this.takeOne(handle);
      else await new Promise<void>((resolve) => (this.#arrived = resolve));
    }
  }
}
