import { LockStorageError, noneAfter, type LockState } from '../core';
import { isHoldOwner } from '../core/lease/hold-owner';
import { unableTo } from '../operations/held-locks';
import { stateOfLock } from '../operations/state-texts';
import { locksOfJobs } from '../operations/overview';
import { actForm } from './forms';
import { actsOf, linkTo, stateText, tableOf, timeOf, type Html, type Page } from './parts';
import { html } from './vendor';
import { NotFoundError, overviewOf, type View } from './view';

const PAGE = 100;

export async function locksPage(view: View): Promise<Page> {
  const held = view.query.get('locks') !== 'all';
  const after = view.query.get('after') ?? undefined;
  const listed = await view.reads.read(`locks ${held} ${after}`, () =>
    view.guard.locks.list({ held, limit: PAGE + 1, ...(after ? { after } : {}) }).catch(unableTo),
  );
  if (listed === undefined) return await locksOfJobsPage(view);
  const shown = listed.slice(0, PAGE);
  const more = listed.length > PAGE ? shown.at(-1)?.name : undefined;
  const body = html`<p>
      ${held ? html`<a href="?locks=all">Show free locks, too</a>` : html`<a href="?locks=held">Show only held locks</a>`}
    </p>
    ${shown.length === 0 ? html`<p>${held ? 'No lock is held.' : 'There are no locks.'}</p>` : lockTable(view, shown)}
    ${more ? html`<p><a href="${linkTo({ locks: held ? 'held' : 'all', after: more })}">Next page</a></p>` : ''}`;
  return { title: 'Locks', body };
}

async function locksOfJobsPage(view: View): Promise<Page> {
  const overview = await overviewOf(view);
  const [locks, problems] = [locksOfJobs(overview), overview.problems];
  const body = html`<p>The lock provider cannot list its locks, so these are the held locks of known jobs.</p>
    ${problems.map(({ text }) => html`<p>${text}</p>`)}
    ${locks.length > 0 ? lockTable(view, locks) : problems.length > 0 ? '' : html`<p>No lock is held.</p>`}`;
  return { title: 'Locks', body };
}

function lockTable(view: View, locks: readonly LockState[]): Html {
  const rows = locks.map((lock) => rowOf(view, lock));
  return tableOf(['Lock', 'State', 'Holder', 'Since', 'Until'], rows);
}

function rowOf(given: View, lock: LockState): Html {
  const view = { ...given, now: lock.readAt ?? given.now };
  const [state, holder = ''] = stateOfLock(lock);
  const { isHeld, lockedAt, lockUntil } = lock;
  return html`<tr>
    <th scope="row"><a href="${linkTo({ lock: lock.name })}">${lock.name}</a></th>
    <td>${stateText(state)}</td>
    <td>${holder}</td>
    <td>${isHeld ? timeOf(lockedAt, view) : ''}</td>
    <td>${isHeld ? timeOf(lockUntil, view) : ''}</td>
  </tr>`;
}

export async function lockPage(view: View, name: string): Promise<Page> {
  const lock = await view.reads.read(`lock ${name}`, () => view.guard.locks.inspect(name));
  if (lock === undefined) throw new NotFoundError(`There is no lock '${name}'.`);
  // The database of the acts can be out of reach while that of the locks answers.
  const acts = await actsOf(view, { lock: name }).catch(noneAfter(LockStorageError));
  const body = html`${lockFacts(view, lock)} ${lockActs(view, lock)} ${acts ?? ''}`;
  return { title: `Lock ${name}`, body };
}

export function lockFacts(given: View, lock: LockState): Html {
  const view = { ...given, now: lock.readAt ?? given.now };
  const [state, holder] = stateOfLock(lock);
  const { isHeld, lockedAt, lockUntil, lockedBy, fencingToken } = lock;
  if (!isHeld) return html`<p>${stateText('free')}</p>`;
  return html`<dl>
    <dt>State</dt>
    <dd>${stateText(state)}</dd>
    <dt>${state === 'paused' ? 'Paused by' : 'Holder'}</dt>
    <dd>${holder}</dd>
    <dt>Since</dt>
    <dd>${timeOf(lockedAt, view)}</dd>
    <dt>${state === 'held' ? 'Lease ends, unless it is renewed' : 'Until'}</dt>
    <dd>${timeOf(lockUntil, view)}</dd>
    <dt>Owner</dt>
    <dd><code>${lockedBy}</code></dd>
    ${
      fencingToken === undefined
        ? ''
        : html`<dt>Fencing token</dt>
            <dd>${fencingToken}</dd>`
    }
  </dl>`;
}

/** Pause a free lock, end a pause, or release the lock of a crashed holder. */
function lockActs(view: View, { name: lock, isHeld, lockedBy }: LockState): Html {
  if (!isHeld) return actForm(view, 'pause', { hidden: { lock } });
  if (isHoldOwner(lockedBy)) return actForm(view, 'resume', { hidden: { lock } });
  return actForm(view, 'release', { hidden: { lock, owner: lockedBy } });
}
