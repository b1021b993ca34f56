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
/** The newest page, which waits for the end of the typing. */
let waiting: string | undefined;

function report(text: string): void {
  if (connection && connection.textContent !== text) connection.textContent = text;
}

/** An operator who fills in a form is not disturbed. */
function isTyping(): boolean {
  const fields = [...document.querySelectorAll<HTMLInputElement>('input:not([type=hidden])')];
  const isChanged = ({ value, defaultValue, checked, defaultChecked }: HTMLInputElement): boolean =>
    value !== defaultValue || checked !== defaultChecked;
  return fields.some((field) => field === document.activeElement || isChanged(field));
}

function known(): void {
  heardAt = Date.now();
  report('');
  countAges();
}

/** Replaces the body of the page. The focus, the positions and what is unfolded stay. */
function show(text: string): void {
  known();
  // A form that came back stays until it is sent again.
  if (document.querySelector('.sent')) return;
  const next = new DOMParser().parseFromString(text, 'text/html').querySelector('main');
  const main = document.querySelector('main');
  waiting = undefined;
  if (!next || !main || next.outerHTML === shown) return;
  if (isTyping() || document.querySelector('dialog')) {
    waiting = text;
    return report('The page has changed. It is updated when the form is sent or empty.');
  }
  shown = next.outerHTML;
  const focused = placeOf(document.activeElement);
  const boxes = '.scroll, pre';
  const positions = [...document.querySelectorAll(boxes)].map((box) => {
    const isAtEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 4;
    return [box.scrollLeft, isAtEnd ? Infinity : box.scrollTop] as const;
  });
  const top = scrollY;
  const unfolded = [...document.querySelectorAll('details[open]')].map(({ id }) => id);
  const notes = main.querySelectorAll(':scope > :is(.error, .done)');
  main.replaceWith(next);
  next.prepend(...notes);
  for (const id of unfolded) document.getElementById(id)?.setAttribute('open', '');
  prepareGrid();
  focusOn(focused);
  for (const [index, box] of document.querySelectorAll(boxes).entries()) {
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
    if (response.ok) {
      const text = await response.text();
      tag = response.headers.get('etag');
      show(text);
    } else if (response.status !== 304) lost(FAILURES[response.status] ?? 'The server reports an error');
    else if (waiting === undefined) known();
    else show(waiting);
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
  for (const time of document.querySelectorAll<HTMLTimeElement>('time:not(.clock)')) {
    const seconds = Math.round((Date.parse(time.dateTime) - Date.now() - aheadMs) / 1000);
    if (Math.abs(seconds) < 60)
      time.textContent = seconds > 0 ? `in ${seconds} s` : `${Math.max(0, -seconds)} s ago`;
  }
}

/** Shows the form of an act above the page, until it is sent or closed. */
function openAct(box: Element | null | undefined): void {
  const form = box?.querySelector('form');
  if (!box || !form || document.querySelector('dialog')) return;
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
  if (!element || (href === null && !id)) return ['', 0];
  const selector =
    href === null
      ? `#${CSS.escape(id ?? '')} ${element.localName}`
      : `main a[href="${CSS.escape(href ?? '')}"]`;
  return [selector, [...document.querySelectorAll(selector)].indexOf(element)];
}

function focusOn([selector, index]: ReturnType<typeof placeOf>): void {
  const found = selector === '' ? undefined : document.querySelectorAll<HTMLElement>(selector)[index];
  if (found?.matches('#grid td a')) reach(found);
  found?.focus();
}

/** One cell can be reached by Tab, and the others by the arrow keys. */
function reach(cell: HTMLElement | undefined): void {
  for (const each of document.querySelectorAll<HTMLElement>('#grid td a')) each.tabIndex = -1;
  if (cell) cell.tabIndex = 0;
}

function prepareGrid(): void {
  // On a narrow page, the older days are hidden.
  reach([...document.querySelectorAll<HTMLElement>('#grid td a')].find((cell) => cell.offsetParent));
}

const STEPS: Readonly<Record<string, readonly [rows: number, columns: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** To the next cell in that direction that has something to show. */
function move(event: KeyboardEvent): void {
  const step = STEPS[event.key];
  const cell = (event.target as Element).closest<HTMLTableCellElement>('#grid td');
  const table = cell?.closest('table');
  if (!step || !cell || !table) return;
  event.preventDefault();
  const [rows, columns] = step;
  let [row, column] = [(cell.parentElement as HTMLTableRowElement).rowIndex, cell.cellIndex];
  for (;;) {
    row += rows;
    column += columns;
    if (row < table.tHead!.rows.length || row >= table.rows.length) return;
    if (column < 1 || column >= table.rows[0]!.cells.length) return;
    const link = table.rows[row]?.cells[column]?.querySelector('a');
    // A job with only a lock has one wide cell.
    if (!link?.offsetParent) continue;
    reach(link);
    return link.focus();
  }
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
