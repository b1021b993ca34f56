import { currentRun, FatalJobError, OncePerDay, SchedulerLock } from 'cronlatch';

export interface Bank {
  /** A repeated key means the same transfer: the bank makes no second one. */
  transfer(account: string, key: string): Promise<void>;
}

export class PaymentJobs {
  constructor(
    private readonly bank: Bank,
    private readonly accounts: () => Promise<string[]>,
  ) {}

  @SchedulerLock({ name: 'pay-suppliers', lockAtMostFor: '1m', keepAlive: true })
  @OncePerDay({ timeZone: 'Europe/Paris', onCrash: 'retry' })
  async paySuppliers(): Promise<number | undefined> {
    const { idempotencyKey, signal } = currentRun();
    const accounts = await this.accounts();
    if (accounts.length === 0) throw new FatalJobError('There is no account to pay.'); // Not retried.
    for (const account of accounts) {
      signal.throwIfAborted(); // The lease is lost, or the guard is closing: stop.
      await this.bank.transfer(account, `${idempotencyKey}/${account}`);
    }
    return accounts.length; // Stored as the result of the run.
  }
}
