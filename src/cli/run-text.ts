import type { Run } from '../ledger';
import { shown, styled, type Style } from './output';

/** Enough of an error to recognize it, without its stack. */
export function briefly(error: string | undefined): string | undefined {
  return error?.split(/\n\s+at /)[0]?.slice(0, 120);
}

const STYLES: Readonly<Record<Run['state'], Style>> = {
  pending: 'yellow',
  running: 'yellow',
  completed: 'green',
  failed: 'red',
  interrupted: 'red',
  skipped: 'dim',
};

export function stateOf({ state }: Pick<Run, 'state'>): string {
  return styled(STYLES[state], state);
}

/** In a phrase, what is known about the state of a run. */
export function detailsOf({ state, reason, error, claimedBy, nextAttemptAt, finishedAt }: Run): string {
  const next = nextAttemptAt === undefined ? 'no further attempt' : `next attempt ${shown(nextAttemptAt)}`;
  switch (state) {
    case 'running':
      return `by ${shown(claimedBy)}`;
    case 'pending':
      return `due ${shown(nextAttemptAt)}`;
    case 'failed':
      return `${next}; ${shown(briefly(error) ?? reason)}`;
    case 'completed':
      return `ended ${shown(finishedAt)}`;
    case 'interrupted':
    case 'skipped':
      return shown(reason ?? 'holder crashed');
  }
}
