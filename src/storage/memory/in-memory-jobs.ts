import {
  nextAfterRegistration,
  type DeclaredJob,
  type JobChange,
  type JobRegister,
  type JobRegistration,
  type RegisteredJob,
} from '../../ledger/job-register';

const NO_LAST_RUN = {
  lastStartedAt: undefined,
  lastFinishedAt: undefined,
  lastOutcome: undefined,
  lastHolder: undefined,
};

export class InMemoryJobs {
  readonly #rows = new Map<string, RegisteredJob>();

  register(registrations: readonly JobRegistration[], now: Date): void {
    for (const registration of registrations) {
      const stored = this.#rows.get(registration.job);
      const declared = JSON.parse(JSON.stringify(registration.declared)) as DeclaredJob;
      const isChanged = stored && JSON.stringify(stored.declared) !== JSON.stringify(declared);
      this.#rows.set(registration.job, {
        ...(stored ?? NO_LAST_RUN),
        ...registration,
        declared,
        registeredAt: now,
        previous: isChanged ? asPrevious(stored) : stored?.previous,
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

  update(changes: readonly JobChange[], now: Date): void {
    for (const change of changes) {
      const row = this.#rows.get(change.job);
      if (row !== undefined) this.#rows.set(row.job, { ...row, ...changeOf(row, change, now) });
    }
  }
}

function asPrevious({ declared, registeredBy, registeredAt }: RegisteredJob): RegisteredJob['previous'] {
  return { declared, registeredBy, registeredAt };
}

function changeOf(row: RegisteredJob, change: JobChange, now: Date): Partial<RegisteredJob> {
  if ('answeredAt' in change) {
    const { answeredAt, nextScheduledAt } = change;
    const isAnswered = row.nextScheduledAt !== undefined && row.nextScheduledAt <= answeredAt;
    return isAnswered ? { nextScheduledAt } : {};
  }
  const lastStartedAt = new Date(now.getTime() - change.startedMsAgo);
  if (row.lastStartedAt !== undefined && row.lastStartedAt >= lastStartedAt) return {};
  return {
    lastStartedAt,
    lastFinishedAt: new Date(now.getTime() - change.finishedMsAgo),
    lastOutcome: change.outcome,
    lastHolder: change.holder,
  };
}
