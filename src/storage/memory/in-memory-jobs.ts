import {
  nextAfterRegistration,
  type DeclaredJob,
  type JobChange,
  type JobRegister,
  type JobRegistration,
  type RegisteredJob,
} from '../../ledger/job-register';

export class InMemoryJobs {
  readonly #rows = new Map<string, RegisteredJob>();

  register(registrations: readonly JobRegistration[], now: Date): void {
    for (const registration of registrations) {
      const stored = this.#rows.get(registration.job);
      const declared = JSON.parse(JSON.stringify(registration.declared)) as DeclaredJob;
      this.#rows.set(registration.job, {
        ...registration,
        declared,
        registeredAt: now,
        nextScheduledAt: nextAfterRegistration(stored, registration, now),
      });
    }
  }

  forget(job: string, before: Date): boolean {
    const row = this.#rows.get(job);
    return row !== undefined && row.registeredAt < before && this.#rows.delete(job);
  }

  list(now: Date): JobRegister {
    const jobs = [...this.#rows.values()].sort((a, b) => (a.job < b.job ? -1 : 1));
    return structuredClone({ now, jobs });
  }

  update(changes: readonly JobChange[]): void {
    for (const { job, answeredAt, nextScheduledAt } of changes) {
      const row = this.#rows.get(job);
      if (row?.nextScheduledAt !== undefined && row.nextScheduledAt <= answeredAt)
        this.#rows.set(job, { ...row, nextScheduledAt });
    }
  }
}
