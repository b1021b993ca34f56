import {
  declaredSince,
  type DeclaredJob,
  type JobAnswer,
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
        declaredAt: declaredSince(stored, registration, now),
        answeredAt: stored?.answeredAt,
        registeredAt: now,
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

  answer(answers: readonly JobAnswer[]): void {
    for (const { job, answeredAt } of answers) {
      const row = this.#rows.get(job);
      if (row !== undefined && (row.answeredAt ?? new Date(0)) < answeredAt)
        this.#rows.set(job, { ...row, answeredAt });
    }
  }
}
