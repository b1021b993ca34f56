import type { JobGuard } from 'cronlatch';
import { operations } from 'cronlatch/operations';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export function measureJobs(guard: JobGuard, registry: Registry): void {
  const metric = (name: string, help: string, ...labels: string[]) => ({
    ...{ name: `cronlatch_${name}`, help, labelNames: ['cronlatch_job', ...labels], registers: [registry] },
  });
  const attempts = new Counter(metric('lock_attempts_total', 'Attempts to acquire a lock', 'outcome'));
  const renewals = new Counter(metric('lock_renewals_total', 'Renewals and extensions of a lease'));
  const lost = new Counter(metric('lock_lost_total', 'Locks that were lost'));
  const unreleased = new Counter(metric('lock_release_failures_total', 'Failed releases of a lock'));
  const skips = new Counter(metric('run_skips_total', 'Runs that were skipped', 'reason'));
  const failures = new Counter(
    metric('run_failures_total', 'Attempts that failed or lost their lease', 'outcome'),
  );
  const duration = new Histogram({
    ...metric('run_duration_seconds', 'Duration of a handler', 'outcome'),
    buckets: [0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14_400, 21_600],
  });
  new Gauge({
    name: 'cronlatch_store_reachable',
    help: '1 if the store of the locks answers',
    registers: [registry],
    async collect() {
      const failure = await guard.probe('5s').catch((error: Error) => error);
      this.set(failure === undefined ? 1 : 0);
    },
  });
  for (const [kind, help] of [
    ['late', '1 if a job has not run in time'],
    ['missed', '1 if a job has missed a period of the last week'],
  ] as const)
    new Gauge({
      ...metric(`job_${kind}`, help),
      async collect() {
        const overview = await operations(guard)
          .overview()
          .catch(() => undefined);
        if (overview === undefined) return; // A store did not answer, so the last values stay.
        this.reset();
        for (const { job, problems } of overview.jobs)
          if (problems.some((problem) => problem.kind === kind)) this.set({ cronlatch_job: job }, 1);
      },
    });
  new Gauge({
    ...metric('run_last_completed_seconds', 'End of the latest completed run'),
    async collect() {
      for (const { job } of await guard.ledger.jobs().catch(() => [])) {
        const [run] = await guard.ledger.list({ job, states: ['completed'], limit: 1 }).catch(() => []);
        if (run?.finishedAt !== undefined) this.set({ cronlatch_job: job }, run.finishedAt.getTime() / 1000);
      }
    },
  });

  guard.on('lock:acquired', ({ job = '' }) => attempts.inc({ cronlatch_job: job, outcome: 'acquired' }));
  guard.on('lock:failed', ({ job = '' }) => attempts.inc({ cronlatch_job: job, outcome: 'failed' }));
  guard.on('lock:skipped', ({ job = '', reason, heldBy }) => {
    if (reason === 'locked') attempts.inc({ cronlatch_job: job, outcome: 'locked' });
    skips.inc({ cronlatch_job: job, reason: heldBy?.startsWith('hold/') ? 'paused' : reason });
  });
  guard.on('run:skipped', ({ job = '', reason }) => skips.inc({ cronlatch_job: job, reason }));
  guard.on('lock:extended', ({ job = '' }) => renewals.inc({ cronlatch_job: job }));
  guard.on('lock:lost', ({ job = '' }) => lost.inc({ cronlatch_job: job }));
  guard.on('lock:releaseFailed', ({ job = '' }) => unreleased.inc({ cronlatch_job: job }));
  guard.on('run:completed', ({ job = '', durationMs }) =>
    duration.observe({ cronlatch_job: job, outcome: 'completed' }, durationMs / 1000),
  );
  guard.on('run:failed', ({ job = '', durationMs, isFinal, retryAt }) => {
    duration.observe({ cronlatch_job: job, outcome: 'failed' }, durationMs / 1000);
    const outcome = isFinal ? 'failed-permanently' : retryAt === undefined ? 'failed' : 'will-retry';
    failures.inc({ cronlatch_job: job, outcome });
  });
  guard.on('run:interrupted', ({ job = '' }) => failures.inc({ cronlatch_job: job, outcome: 'interrupted' }));
}
