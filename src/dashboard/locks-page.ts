import { LockStorageError, noneAfter, type LockState } from '../core';
import { isHoldOwner } from '../core/lease/hold-owner';
import { unableTo } from '../operations/held-locks';
import type { JobCatalog } from '../operations/job-catalog';
import { locksOfJobs } from '../operations/overview';
import { countText, stateOfLock } from '../operations/state-texts';
import { lifeOf } from '../operations/why';
import { actButton } from './forms';
import { actsOf, card, clockOf, factsOf, linkTo, pill, rowOf, tableOf, timeOf } from './parts';
import type { Html, Page } from './parts';
import { html } from './vendor';
import { NotFoundError, overviewOf, soonKnown, type View } from './view';

const PAGE = 100;

/** The locks that are held, those that are paused, and the free ones, folded. */
export async function locksPage(view: View): Promise<Page> {
  const isAll = view.query.get('locks') === 'all';
  const list = async (held: boolean): Promise<readonly LockState[] | undefined> => {
    const after = held === isAll ? undefined : (view.query.get('after') ?? undefined);
    return await view.reads.read(`locks ${JSON.stringify([held, after])}`, () =>
      view.guard.locks.list({ held, limit: PAGE + 1, ...(after && { after }) }).catch(unableTo),
    );
  };
  const [known, held, all] = await Promise.all([soonKnown(view), list(true), list(false)]);
  if (held === undefined || all === undefined) {
    const overview = await overviewOf(view);
    const problems = overview.problems.map(({ text }) => html`<p>${text}</p>`);
    const shown = problems.length > 0 ? problems : groupsOf(view, locksOfJobs(overview), known);
    const text = 'The lock provider cannot list its locks, so these are the held locks of known jobs.';
    const body = html`<p>${text}</p>
      ${shown}`;
    return { title: 'Locks', body };
  }
  const next = (locks: 'held' | 'all', of: readonly LockState[]): Html => {
    const last = of.length > PAGE ? of[PAGE - 1]?.name : undefined;
    return last ? html`<p><a href="${linkTo({ locks, after: last })}">Next page</a></p>` : '';
  };
  const free = all.slice(0, PAGE).filter(({ isHeld }) => !isHeld);
  const where = all.length > PAGE || (isAll && view.query.has('after')) ? ' on this page' : '';
  const body = html`${groupsOf(view, held.slice(0, PAGE), known)} ${next('held', held)}
    <details class="card" id="free" ${isAll ? 'open' : ''}>
      <summary>
        ${free.length === 0 ? `No lock${where} is free` : `${countText(free.length, 'free lock')}${where}`}
      </summary>
      <ul>
        ${free.map(({ name }) => html`<li><a href="${linkTo({ lock: name })}">${name}</a></li>`)}
      </ul>
      ${next('all', all)}
    </details>`;
  return { title: 'Locks', body };
}

function groupsOf(view: View, held: readonly LockState[], known: JobCatalog | undefined): Html {
  if (held.length === 0) return html`<p>No lock is held.</p>`;
  const group = (title: string, isPaused: boolean): Html => {
    const locks = held.filter(({ lockedBy }) => isHoldOwner(lockedBy) === isPaused);
    if (locks.length === 0) return '';
    const rows = locks.map((lock) => lockRow(view, lock, known));
    const columns = ['Lock', 'State', isPaused ? 'By' : 'Holder', 'Since', 'Until', 'Lease'];
    return card(`${title} ${locks.length}`, tableOf(title, columns, rows));
  };
  return html`${group('Held', false)} ${group('Paused', true)}`;
}

function lockRow(given: View, lock: LockState, known: JobCatalog | undefined): Html {
  const view = { ...given, now: lock.readAt ?? given.now };
  const [state, holder] = stateOfLock(lock);
  const cells = [pill(state), holder, clockOf(lock.lockedAt, view), clockOf(lock.lockUntil, view)];
  const link = html`<a href="${linkTo({ lock: lock.name })}">${lock.name}</a>`;
  return rowOf([...cells, leaseBar(view, lock, known)], link);
}

/** How much of the lease has passed since its grant, or since its last renewal. */
function leaseBar({ now }: View, lock: LockState, known: JobCatalog | undefined): Html {
  const { name, lockedAt, lockUntil, lockedBy } = lock;
  const job = known?.get(known.jobsOf(name)[0] ?? '');
  const { renewedAt } = isHoldOwner(lockedBy) ? {} : lifeOf(lock, job, now);
  const from = (renewedAt ?? lockedAt)?.getTime();
  if (from === undefined) return '';
  // In steps of 5 %, so that the page does not change with each second.
  const passed = Math.round(((now.getTime() - from) / Math.max(1, lockUntil.getTime() - from)) * 20) * 5;
  const isRenewed = renewedAt && lockedAt && renewedAt > lockedAt;
  const text = `since its ${isRenewed ? 'renewal' : 'grant'}`;
  return html`<progress
    value="${Math.min(100, Math.max(0, passed))}"
    max="100"
    title="${text}"
    aria-label="Lease of ${name}, ${text}"
  ></progress>`;
}

export async function lockPage(view: View, name: string): Promise<Page> {
  const lock = await view.reads.read(`lock ${name}`, () => view.guard.locks.inspect(name));
  if (lock === undefined) throw new NotFoundError(`There is no lock '${name}'.`);
  // The database of the acts can be out of reach while that of the locks answers.
  const known = await soonKnown(view);
  const acts = known && (await actsOf(view, { lock: name }).catch(noneAfter(LockStorageError)));
  const beside = html`${pill(stateOfLock(lock)[0])}
    <div class="btns">${lockActs(view, lock)}</div>`;
  return { title: `Lock ${name}`, beside, body: html`${lockFacts(view, lock, known)} ${acts}` };
}

export function lockFacts(given: View, lock: LockState, known: JobCatalog | undefined): Html {
  if (!lock.isHeld) return '';
  const view = { ...given, now: lock.readAt ?? given.now };
  const [state, holder] = stateOfLock(lock);
  const { lockedAt, lockUntil, lockedBy, fencingToken } = lock;
  const until = html`${clockOf(lockUntil, view)}, ${timeOf(lockUntil, view)} ${leaseBar(view, lock, known)}`;
  return html`<section class="card">
    ${factsOf([
      [state === 'paused' ? 'Paused by' : 'Holder', holder],
      ['Since', html`${clockOf(lockedAt, view)}, ${timeOf(lockedAt, view)}`],
      [state === 'held' ? 'Lease ends, unless it is renewed' : 'Until', until],
      ['Owner', html`<code>${lockedBy}</code>`],
      ['Fencing token', fencingToken?.toString()],
    ])}
  </section>`;
}

/** Pause a free lock, end a pause, or release the lock of a crashed holder. */
function lockActs(view: View, { name: lock, isHeld, lockedBy }: LockState): Html {
  if (!isHeld) return actButton(view, 'pause', { hidden: { lock } });
  if (isHoldOwner(lockedBy)) return actButton(view, 'resume', { hidden: { lock }, look: 'first' });
  return actButton(view, 'release', { hidden: { lock, owner: lockedBy } });
}
