import type { JobGuard } from 'cronlatch';

const job = 'close-day';

export async function report({ ledger }: JobGuard): Promise<string[]> {
  const run = await ledger.get({ job, periodKey: '2026-11-20' });
  const newest = await ledger.last(job);
  const bad = await ledger.list({ job, states: ['failed', 'interrupted'], limit: 20 });
  const history = await ledger.history({ job, periodKey: '2026-11-20' });
  const gaps = await ledger.gaps(job, { from: new Date('2026-11-01') });
  const { decision, text } = await ledger.explain(job, { at: new Date('2026-11-21T02:00:00Z') });
  return [
    `2026-11-20: ${run?.state}, attempt ${run?.attempt}, result ${run?.result}`,
    `newest: ${newest?.periodKey}`,
    `failed or interrupted: ${bad.map(({ periodKey }) => periodKey).join(', ')}`,
    `what happened: ${history.map(({ kind, attempt }) => `${kind} (attempt ${attempt})`).join(', ')}`,
    `never run: ${gaps.map(({ key }) => key).join(', ')}`,
    `tomorrow: ${decision}. ${text}`,
  ];
}
