/**
 * Keeps the page fresh, opens the forms of acts as dialogs, and moves through the grid by the arrow keys. Without it, the page
 * works, but stays as it is.
 */
const connection = document.querySelector('#connection');
const POLL_MS = 5000;
const LONGEST_MS = 20_000;
let heardAt = Date.now();
/** How far the server's clock is ahead. */
let aheadMs = 0;
/** The body as the server sent it. */
let shown = document.querySelector('main')?.outerHTML;
/** Of the page that was loaded last. */
let tag: string | null = null;
/** The newest page, until it is shown. It waits for the end of the typing. */
let waiting: string | undefined;

function all<T extends Element = HTMLElement>(selector: string): T[] {
  return [...document.querySelectorAll<T>(selector)];
}

function report(text: string): void {
  if (connection && connection.textContent !== text) connection.textContent = text;
}

/** An operator who fills in a form is not disturbed. */
function isTyping(): boolean {
  const fields = all<HTMLInputElement>('input:not([type=hidden])');
  const isChanged = ({ value, defaultValue, checked, defaultChecked }: HTMLInputElement): boolean =>
    value !== defaultValue || checked !== defaultChecked;
  return fields.some((field) => field === document.activeElement || isChanged(field));
}

/** Replaces the body of the page, if it has changed. The focus, the positions and what is unfolded stay. */
function show(): void {
  heardAt = Date.now();
  report('');
  countAges();
  // A form that came back stays until it is sent again.
  if (waiting === undefined || document.querySelector('.sent')) return;
  const next = new DOMParser().parseFromString(waiting, 'text/html').querySelector('main');
  const main = document.querySelector('main');
  const hasNews = next && main && next.outerHTML !== shown;
  if (hasNews && (isTyping() || document.querySelector('dialog')))
    return report('The page has changed. It is updated when the form is sent or empty.');
  waiting = undefined;
  if (!hasNews) return;
  shown = next.outerHTML;
  const focused = placeOf(document.activeElement);
  const boxes = '.scroll, pre';
  const positions = all(boxes).map((box) => {
    const isAtEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 4;
    return [box.scrollLeft, isAtEnd ? Infinity : box.scrollTop] as const;
  });
  const top = scrollY;
  const unfolded = all('details[open]').map(({ id }) => id);
  const notes = main.querySelectorAll(':scope > :is(.error, .done)');
  main.replaceWith(next);
  next.prepend(...notes);
  for (const id of unfolded) document.getElementById(id)?.setAttribute('open', '');
  prepareGrid();
  focusOn(focused);
  for (const [index, box] of all(boxes).entries()) {
    const [left, down] = positions[index] ?? [0, 0];
    box.scrollTo(left, Math.min(down, box.scrollHeight));
  }
  scrollTo({ top });
  countAges();
}

function lost(what: string): void {
  const at = new Date(heardAt).toLocaleTimeString('en-GB');
  report(`${what}. This is what was known at ${at}.`);
}

/** Why the page cannot be loaded. */
const FAILURES: Readonly<Record<number, string>> = {
  401: 'You have no access any more',
  404: 'This page does not exist any more',
  503: 'The database does not answer',
};

async function load(): Promise<void> {
  if (document.hidden) return;
  try {
    const headers = tag === null ? {} : { 'If-None-Match': tag };
    const response = await fetch(location.href, { headers, signal: AbortSignal.timeout(LONGEST_MS) });
    const date = response.headers.get('date');
    if (date) aheadMs = Date.parse(date) - Date.now();
    if (response.ok) [waiting, tag] = [await response.text(), response.headers.get('etag')];
    if (response.ok || response.status === 304) show();
    else lost(FAILURES[response.status] ?? 'The server reports an error');
  } catch {
    lost('The connection is lost');
  }
}

/** A hidden page loads nothing. It is loaded at once when it is shown again. */
let loading: Promise<void> | undefined;
function refresh(): void {
  loading ??= load().finally(() => (loading = undefined));
}

/** The server writes no seconds, so that a page without news stays the same. */
function countAges(): void {
  for (const time of all<HTMLTimeElement>('time:not(.clock)')) {
    const seconds = Math.round((Date.parse(time.dateTime) - Date.now() - aheadMs) / 1000);
    if (Math.abs(seconds) < 60)
      time.textContent = seconds > 0 ? `in ${seconds} s` : `${Math.max(0, -seconds)} s ago`;
  }
}

/** Shows the form of an act above the page, until it is sent or closed. */
function openAct(box: Element | null | undefined): void {
  const form = box?.querySelector('form');
  if (!box || !form || document.querySelector('dialog[open]')) return;
  box.removeAttribute('open');
  const dialog = document.createElement('dialog');
  dialog.className = 'act';
  dialog.setAttribute('aria-label', form.querySelector('h2')?.textContent ?? '');
  dialog.append(form);
  document.body.append(dialog);
  dialog.addEventListener('close', () => {
    form.reset();
    form.classList.remove('sent');
    box.append(form);
    dialog.remove();
  });
  dialog.showModal();
  form.querySelector<HTMLInputElement>('[name=reason]')?.focus();
}

/** How to find an element on the next page: as the n-th link to its address, or by the id around it. */
function placeOf(element: Element | null): readonly [selector: string, index: number] {
  const [href, id] = [element?.getAttribute('href'), element?.closest('main [id]')?.id];
  if (!element || !(href || id)) return ['', 0];
  const selector = href ? `main a[href="${CSS.escape(href)}"]` : `#${CSS.escape(id!)} ${element.localName}`;
  return [selector, all<Element>(selector).indexOf(element)];
}

function focusOn([selector, index]: ReturnType<typeof placeOf>): void {
  const found = selector === '' ? undefined : all(selector)[index];
  if (found?.matches('#grid td a')) reach(found);
  found?.focus();
}

/** One cell can be reached by Tab, and the others by the arrow keys. */
function reach(cell: HTMLElement | undefined): void {
  for (const each of all('#grid td a')) each.tabIndex = each === cell ? 0 : -1;
}

function prepareGrid(): void {
  // On a narrow page, the older days are hidden.
  reach(all('#grid td a').find((cell) => cell.offsetParent));
}

const STEPS: Readonly<Record<string, readonly [by: number, isInRow: boolean]>> = {
  ArrowUp: [-1, false],
  ArrowDown: [1, false],
  ArrowLeft: [-1, true],
  ArrowRight: [1, true],
};

/** To the next cell in that direction that has something to show. */
function move(event: KeyboardEvent): void {
  const [by, isInRow] = STEPS[event.key] ?? [];
  const cell = (event.target as Element).closest<HTMLTableCellElement>('#grid td');
  if (by === undefined || !cell) return;
  event.preventDefault();
  const line = all<HTMLTableCellElement>('#grid td').filter(({ parentElement, cellIndex }) =>
    isInRow ? parentElement === cell.parentElement : cellIndex === cell.cellIndex,
  );
  const links = line.flatMap((each) => each.querySelector('a') ?? []).filter((link) => link.offsetParent);
  const next = links[links.findIndex((link) => cell.contains(link)) + by];
  if (next) reach(next);
  next?.focus();
}

document.documentElement.classList.add('live');
prepareGrid();
openAct((document.querySelector('.sent') ?? document.querySelector('form:target'))?.closest('.act'));
document.addEventListener('keydown', move);
document.addEventListener('click', (event) => {
  const summary = (event.target as Element).closest('details.act > summary');
  if (!summary) return;
  event.preventDefault();
  openAct(summary.parentElement);
});
document.addEventListener('visibilitychange', refresh);
setInterval(refresh, POLL_MS);
