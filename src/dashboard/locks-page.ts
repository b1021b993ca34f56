import { LockStorageError, noneAfter, type LockState } from '../core';
import { isHoldOwner } from '../core/lease/hold-owner';
import { unableTo } from '../operations/held-locks';
import type { JobCatalog } from '../operations/job-catalog';
import { locksOfJobs } from '../operations/overview';
import { countText, stateOfLock } from '../operations/state-texts';
import { lifeOf } from '../operations/why';
import { actButton } from './forms';
import { actsOf, clockOf, linkTo, pill, tableOf, timeOf, type Html, type Page } from './parts';
import { html } from './vendor';
import { NotFoundError, overviewOf, soonKnown, type View } from './view';

const PAGE = 100;

/** The locks that are held, those that are paused, and the free ones, folded. */
export async function locksPage(view: View): Promise<Page> {
  const [isAll, after] = [view.query.get('locks') === 'all', view.query.get('after') ?? undefined];
  const list = async (held: boolean, from: string | undefined): Promise<readonly LockState[] | undefined> =>
    await view.reads.read(`locks ${held} ${from}`, () =>
      view.guard.locks.list({ held, limit: PAGE + 1, ...(from ? { after: from } : {}) }).catch(unableTo),
    );
  const known = await soonKnown(view);
  const [held, all] = await Promise.all([
    list(true, isAll ? undefined : after),
    list(false, isAll ? after : undefined),
  ]);
  if (held === undefined || all === undefined) return await locksOfJobsPage(view, known);
  const next = (locks: 'held' | 'all', of: readonly LockState[]): Html => {
    const last = of.length > PAGE ? of[PAGE - 1]?.name : undefined;
    return last ? html`<p><a href="${linkTo({ locks, after: last })}">Next page</a></p>` : '';
  };
  const free = all.slice(0, PAGE).filter(({ isHeld }) => !isHeld);
  const body = html`${groupsOf(view, held.slice(0, PAGE), known)} ${next('held', held)}
    <details class="card" id="free" ${isAll ? 'open' : ''}>
      <summary>
        ${free.length === 0 ? 'No lock is free' : `${countText(free.length, 'free lock')}${all.length > PAGE ? ' on this page' : ''}`}
      </summary>
      <ul>
        ${free.map(({ name }) => html`<li><a href="${linkTo({ lock: name })}">${name}</a></li>`)}
      </ul>
      ${next('all', all)}
    </details>`;
  return { title: 'Locks', body };
}

async function locksOfJobsPage(view: View, known: JobCatalog | undefined): Promise<Page> {
  const overview = await overviewOf(view);
  const body = html`<p>The lock provider cannot list its locks, so these are the held locks of known jobs.</p>
    ${overview.problems.map(({ text }) => html`<p>${text}</p>`)}
    ${overview.problems.length > 0 ? '' : groupsOf(view, locksOfJobs(overview), known)}`;
  return { title: 'Locks', body };
}

function groupsOf(view: View, held: readonly LockState[], known: JobCatalog | undefined): Html {
  if (held.length === 0) return html`<p>No lock is held.</p>`;
  const group = (title: string, isPaused: boolean): Html => {
    const locks = held.filter(({ lockedBy }) => isHoldOwner(lockedBy) === isPaused);
    if (locks.length === 0) return '';
    const rows = locks.map((lock) => rowOf(view, lock, known));
    return html`<section class="card">
      <h2>${title} ${locks.length}</h2>
      ${tableOf(['Lock', 'State', isPaused ? 'By' : 'Holder', 'Since', 'Until', 'Lease'], rows)}
    </section>`;
  };
  return html`${group('Held', false)} ${group('Paused', true)}`;
}

function rowOf(given: View, lock: LockState, known: JobCatalog | undefined): Html {
  const view = { ...given, now: lock.readAt ?? given.now };
  const [state, holder = ''] = stateOfLock(lock);
  return html`<tr>
    <th scope="row"><a href="${linkTo({ lock: lock.name })}">${lock.name}</a></th>
    <td>${pill(state)}</td>
    <td>${holder}</td>
    <td>${clockOf(lock.lockedAt, view)}</td>
    <td>${clockOf(lock.lockUntil, view)}</td>
    <td>${leaseBar(view, lock, known)}</td>
  </tr>`;
}

/** How much of the lease has passed since its grant, or since its last renewal. */
function leaseBar({ now }: View, lock: LockState, known: JobCatalog | undefined): Html {
  const [job = ''] = known?.jobsOf(lock.name) ?? [];
  const { renewedAt } = isHoldOwner(lock.lockedBy) ? {} : lifeOf(lock, known?.get(job), now);
  const from = (renewedAt ?? lock.lockedAt)?.getTime();
  if (from === undefined) return '';
  // In steps of 5 %, so that the page does not change with each second.
  const passed = Math.round(((now.getTime() - from) / Math.max(1, lock.lockUntil.getTime() - from)) * 20) * 5;
  const text =
    renewedAt && renewedAt > (lock.lockedAt ?? renewedAt) ? 'since its renewal' : 'since its grant';
  return html`<progress
    value="${Math.min(100, Math.max(0, passed))}"
    max="100"
    title="${text}"
    aria-label="Lease of ${lock.name}, ${text}"
  ></progress>`;
}

export async function lockPage(view: View, name: string): Promise<Page> {
  const lock = await view.reads.read(`lock ${name}`, () => view.guard.locks.inspect(name));
  if (lock === undefined) throw new NotFoundError(`There is no lock '${name}'.`);
  // The database of the acts can be out of reach while that of the locks answers.
  const known = await soonKnown(view);
  const acts = known && (await actsOf(view, { lock: name }).catch(noneAfter(LockStorageError)));
  const body = html`${lockFacts(view, lock, known)} ${acts ?? ''}`;
  return {
    title: `Lock ${name}`,
    beside: html`${pill(stateOfLock(lock)[0])}
      <div class="btns">${lockActs(view, lock)}</div>`,
    body,
  };
}

export function lockFacts(given: View, lock: LockState, known: JobCatalog | undefined): Html {
  const view = { ...given, now: lock.readAt ?? given.now };
  const [state, holder] = stateOfLock(lock);
  const { isHeld, lockedAt, lockUntil, lockedBy, fencingToken } = lock;
  if (!isHeld) return '';
  return html`<section class="card">
    <dl>
      <dt>${state === 'paused' ? 'Paused by' : 'Holder'}</dt>
      <dd>${holder}</dd>
      <dt>Since</dt>
      <dd>${clockOf(lockedAt, view)}, ${timeOf(lockedAt, view)}</dd>
      <dt>${state === 'held' ? 'Lease ends, unless it is renewed' : 'Until'}</dt>
      <dd>${clockOf(lockUntil, view)}, ${timeOf(lockUntil, view)} ${leaseBar(view, lock, known)}</dd>
      <dt>Owner</dt>
      <dd><code>${lockedBy}</code></dd>
      ${
        fencingToken === undefined
          ? ''
          : html`<dt>Fencing token</dt>
              <dd>${fencingToken}</dd>`
      }
    </dl>
  </section>`;
}

/** Pause a free lock, end a pause, or release the lock of a crashed holder. */
function lockActs(view: View, { name: lock, isHeld, lockedBy }: LockState): Html {
  if (!isHeld) return actButton(view, 'pause', { hidden: { lock } });
  if (isHoldOwner(lockedBy)) return actButton(view, 'resume', { hidden: { lock }, look: 'first' });
  return actButton(view, 'release', { hidden: { lock, owner: lockedBy } });
}
