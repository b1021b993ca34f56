import { join } from 'node:path';
import { Child } from '../../../processes/child';
import { linesOf } from '../lines';
import type { Testimony } from './testimony';
import type { WitnessOrders } from './witness-process';

/** The process that no fault hits. */
export class Witness {
  private constructor(
    private readonly process: Child<{ readonly event: 'ready' }>,
    readonly socket: string,
    private readonly file: string,
  ) {}

  static async in(folder: string): Promise<Witness> {
    const orders: WitnessOrders = { socket: join(folder, 'witness'), file: join(folder, 'witness.jsonl') };
    const process = new Child<{ readonly event: 'ready' }>(
      '../../faults/campaign/witness/witness-process.js',
      {
        argument: orders,
      },
    );
    await process.received('ready');
    return new Witness(process, orders.socket, orders.file);
  }

  /** Its whole record, in the order of arrival. */
  async testimonies(): Promise<Testimony[]> {
    return await linesOf<Testimony>(this.file);
  }

  async end(): Promise<void> {
    await this.process.end();
  }
}
