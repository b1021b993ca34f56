import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Answer, Report, Statement } from './testimony';

/** A worker's connection to the witness. */
export class WitnessClient {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #serial = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    createInterface({ input: socket }).on('line', (line) => {
      const answer = JSON.parse(line) as Answer;
      this.#waiting.get(answer.serial)?.(answer);
      this.#waiting.delete(answer.serial);
    });
  }

  static async at(path: string, worker: number): Promise<WitnessClient> {
    const socket = connect(path);
    await once(socket, 'connect');
    socket.write(`${JSON.stringify({ worker })}\n`);
    return new WitnessClient(socket);
  }

  /** Resolves when the witness has recorded it; for a write, with whether it counts. */
  report(statement: Statement): Promise<boolean> {
    const serial = (this.#serial += 1);
    return new Promise((resolve) => {
      this.#waiting.set(serial, ({ accepted }) => resolve(accepted));
      this.#socket.write(`${JSON.stringify({ serial, ...statement } satisfies Report)}\n`);
    });
  }

  close(): void {
    this.#socket.end();
  }
}
