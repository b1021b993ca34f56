import { currentLock, SchedulerLock } from 'cronlatch';

export class InvoiceJobs {
  constructor(private readonly invoices: Iterable<{ send(): Promise<void> }>) {}

  @SchedulerLock({ name: 'send-invoices', lockAtMostFor: '30s', lockAtLeastFor: '5s', keepAlive: true })
  async sendInvoices(): Promise<void> {
    for (const invoice of this.invoices) {
      currentLock().signal.throwIfAborted(); // The lease is lost, or the guard is closing: stop.
      await invoice.send();
    }
  }
}
