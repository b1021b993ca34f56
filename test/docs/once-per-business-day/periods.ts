import { OncePer, OncePerDay } from 'cronlatch';

export class ReportJobs {
  @OncePer('week', { name: 'weekly-report', timeZone: 'Europe/Paris' })
  async weekly(): Promise<void> {}

  // A custom key: two periods a day.
  @OncePer((at) => `${at.toISOString().slice(0, 10)}-${at.getUTCHours() < 12 ? 'am' : 'pm'}`, {
    name: 'half-daily-report',
    timeZone: 'UTC',
  })
  async halfDaily(): Promise<void> {}

  // Once per day for each tenant. An overdue run gets the arguments that resume returns.
  @OncePerDay({
    name: 'tenant-report',
    timeZone: 'Europe/Paris',
    scope: (tenant: string) => tenant,
    resume: ({ scope }) => [scope],
  })
  async forTenant(tenant: string): Promise<string | undefined> {
    return await Promise.resolve(`report of ${tenant}`);
  }
}
