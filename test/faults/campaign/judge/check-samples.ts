import { acquisitionOf } from '../../../support/databases/acquisition-of';
import { SLACK_MS, type Evidence } from './evidence';

/** A statement that its process has abandoned may arrive this late, and then its grant has no holder. */
const LATEST_MS = 10_000;

/** One call of `lock()`, as recorded by its process. */
interface Attempt {
  readonly worker: number;
  readonly sentMs: number;
  answeredMs?: number;
  verdict?: 'granted' | 'held' | 'failed';
  token?: number | undefined;
}

/** P7: the owner of a held row was granted it, got an error, or died. */
export function checkSamples({ journal, samples, wallAheadMs }: Evidence): string[] {
  const attempts = attemptsIn(journal);
  const rows = new Map(samples.map((sample) => [`${sample.name} ${sample.token}`, sample]));
  return [...rows.values()].flatMap(({ name, owner, token, atMs }) => {
    const pid = acquisitionOf(owner).split('/').at(-2);
    const grantedMs = token / 1000 - wallAheadMs;
    const candidates = (attempts.get(`${pid} ${name}`) ?? []).filter(
      ({ sentMs, answeredMs = Infinity }) =>
        sentMs <= grantedMs + SLACK_MS && answeredMs >= grantedMs - LATEST_MS,
    );
    // A process id may be that of an earlier worker, which did not send this.
    const worker = Math.max(...candidates.map((attempt) => attempt.worker));
    if (
      candidates.some(
        (attempt) => attempt.worker === worker && accountsFor(attempt, { token, grantedMs, seenMs: atMs }),
      )
    )
      return [];
    const answer = candidates.map(({ verdict }) => verdict).join(', ') || 'nothing';
    return [
      `P7: '${name}' was held by process ${pid} under token ${token}, and the answer to its call was: ${answer}`,
    ];
  });
}

function accountsFor(
  { answeredMs, verdict, token }: Attempt,
  row: { readonly token: number; readonly grantedMs: number; readonly seenMs: number },
): boolean {
  if (answeredMs === undefined || answeredMs > row.seenMs || verdict === 'failed') return true;
  // A grant without a holder, made after the call found another holder; its owner releases it again.
  if (answeredMs < row.grantedMs) return true;
  return verdict === 'granted' && token === row.token;
}

/** By process and name. */
function attemptsIn(journal: Evidence['journal']): Map<string, Attempt[]> {
  const attemptsByCaller = new Map<string, Attempt[]>();
  const open = new Map<string, Attempt>();
  for (const entry of journal) {
    if (entry.k !== 'request' && entry.k !== 'answer') continue;
    const { worker, pid, id, name, atMs } = entry;
    if (entry.k === 'request') {
      const attempt: Attempt = { worker, sentMs: atMs };
      open.set(`${worker} ${id}`, attempt);
      const caller = `${pid} ${name}`;
      attemptsByCaller.set(caller, [...(attemptsByCaller.get(caller) ?? []), attempt]);
    } else
      Object.assign(open.get(`${worker} ${id}`) ?? {}, {
        answeredMs: atMs,
        verdict: entry.verdict,
        token: entry.token,
      });
  }
  return attemptsByCaller;
}
