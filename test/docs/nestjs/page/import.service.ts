import { Injectable } from '@nestjs/common';
import { JobGuard } from 'cronlatch';

@Injectable()
export class ImportService {
  constructor(private readonly guard: JobGuard) {}

  /** Called manually: at most one import per customer at a time. */
  async import(customer: string): Promise<'done' | 'busy'> {
    const lock = { name: `import-${customer}`, lockAtMostFor: '10m' } as const;
    const result = await this.guard.run(lock, async () => {
      await Promise.resolve(); // The work.
    });
    return result.executed ? 'done' : 'busy';
  }

  async lastClosing(): Promise<string | undefined> {
    return (await this.guard.ledger.last('close-day'))?.periodKey;
  }
}
