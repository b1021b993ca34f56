/**
 * A process without faults. Workers report to it when they start and end work under a lock, and write to its
 * register, which refuses lower tokens. The campaign is judged by its record.
 */
import { appendFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { machineMs } from '../../../processes/machine-time';
import { argument, send } from '../../../processes/parent';
import type { Answer, Report, Testimony } from './testimony';

export interface WitnessOrders {
  readonly socket: string;
  readonly file: string;
}

const { socket: path, file } = argument<WitnessOrders>();
const highest = new Map<string, number>();

function testify(testimony: Testimony): void {
  appendFileSync(file, `${JSON.stringify(testimony)}\n`);
}

function write(name: string, token: number): boolean {
  const accepted = token >= (highest.get(name) ?? 0);
  if (accepted) highest.set(name, token);
  return accepted;
}

function listenTo(socket: Socket): void {
  let worker = 0;
  const lines = createInterface({ input: socket });
  lines.on('line', (line) => {
    const report = JSON.parse(line) as { worker: number } | Report;
    if ('worker' in report) {
      worker = report.worker;
      return;
    }
    const { serial, ...rest } = report;
    const accepted = rest.event !== 'write' || write(rest.name, rest.token);
    testify({ atMs: machineMs(), worker, accepted, ...rest });
    socket.write(`${JSON.stringify({ serial, accepted } satisfies Answer)}\n`);
  });
  // A killed worker: 'close' records its end.
  socket.on('error', () => socket.destroy());
  lines.on('error', () => socket.destroy());
  socket.on('close', () => testify({ atMs: machineMs(), worker, event: 'gone' }));
}

createServer(listenTo).listen(path, () => send({ event: 'ready' }));
