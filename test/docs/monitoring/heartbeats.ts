import type { JobGuard } from 'cronlatch';

/** The addresses of a job's monitor. Each contains a secret, so read them from your configuration. */
export interface Monitor {
  readonly completed: string;
  readonly failed: string;
}

export function sendHeartbeats(guard: JobGuard, monitors: Readonly<Record<string, Monitor>>): void {
  const ping = async (job: string, what: keyof Monitor): Promise<void> => {
    const url = monitors[job]?.[what];
    if (url === undefined) return;
    const { ok, status } = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(10_000) });
    if (!ok) throw new Error(`The monitor of job '${job}' answered with the status ${status}.`);
  };
  guard.on('run:completed', ({ job = '' }) => ping(job, 'completed'));
  guard.on('run:interrupted', ({ job = '' }) => ping(job, 'failed'));
  guard.on('run:failed', async ({ job = '', retryAt }) => {
    if (retryAt === undefined) await ping(job, 'failed'); // Otherwise a retry follows.
  });
}
