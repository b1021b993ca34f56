import { appendLine, formatLine, type WitnessEvent, type WitnessLine } from './witness';

export const READY = 'ready';

/**
 * Reports the events of a worker. The figures come from the file; the messages to the parent only draw the
 * table.
 */
export class Reporter {
  constructor(
    private readonly worker: string,
    private readonly file: string,
  ) {}

  ready(): void {
    process.send?.(READY);
  }

  report(event: WitnessEvent, scheduledAt: Date | undefined, reason?: string): void {
    if (scheduledAt === undefined)
      throw new Error(`A '${event}' without its scheduled time cannot be counted.`);
    const line: WitnessLine = {
      event,
      worker: this.worker,
      scheduledAt: scheduledAt.getTime(),
      at: Date.now(),
      reason,
    };
    appendLine(this.file, line);
    process.send?.(formatLine(line));
  }
}
