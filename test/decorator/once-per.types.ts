/** Which methods can run once per period: this file is compiled in both modes, and never run. */
import { OncePer, OncePerDay, SchedulerLock } from 'cronlatch';

interface Report {
  readonly total: number;
}

const report: Report = { total: 1 };
const PARIS = { timeZone: 'Europe/Paris' } as const;

export class Taken {
  @OncePerDay({ ...PARIS, name: 'nothing' })
  async nothing(): Promise<void> {}

  @SchedulerLock('perhaps', '1m')
  @OncePerDay({ retry: { maxAttempts: 3, initialDelay: '10m', until: 'period-end' }, onCrash: 'hold' })
  async perhaps(): Promise<Report | undefined> {
    return await Promise.resolve(report);
  }

  @OncePer('quarter', {
    ...PARIS,
    catchUp: 'latest',
    catchUpWindow: '200d',
    target: 'previous',
    dayStart: '04:00',
  })
  @SchedulerLock('quarter', '1m')
  async quarterly(): Promise<void> {}

  @OncePer((at: Date) => at.toISOString().slice(0, 4), { ...PARIS, name: 'custom' })
  async custom(): Promise<void> {}

  @OncePerDay({ ...PARIS, scope: (tenant: string) => tenant, resume: ({ scope }) => [scope] })
  @SchedulerLock('tenants', '1m')
  async perTenant(tenant: string): Promise<string | undefined> {
    return await Promise.resolve(tenant);
  }

  @OncePerDay({
    ...PARIS,
    calendar: { isBusinessDay: async (date) => await Promise.resolve(date !== '2026-12-25') },
  })
  @SchedulerLock('calendar', '1m')
  static async ofTheClass(): Promise<void> {}
}

export class Refused {
  // @ts-expect-error -- "a skipped run resolves to undefined: declare Promise<T | undefined>"
  @OncePerDay(PARIS)
  async certain(): Promise<Report> {
    return await Promise.resolve(report);
  }

  // @ts-expect-error -- "a guarded method is asynchronous: declare Promise<T | undefined>"
  @OncePer('day', PARIS)
  plain(): Report {
    return report;
  }
}

export const refusedOptions = [
  // @ts-expect-error -- unknown period
  () => OncePer('fortnight'),
  // @ts-expect-error -- catchUp is 'none', 'latest' or 'all'
  () => OncePerDay({ catchUp: 'some' }),
  // @ts-expect-error -- node-cron's spelling
  () => OncePerDay({ timezone: 'Europe/Paris' }),
  // @ts-expect-error -- a key is a text
  () => OncePer((at: Date) => at.getTime()),
];
