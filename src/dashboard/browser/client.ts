/** Keeps the page fresh, and moves through its grid by the arrow keys. Without it, the page works, but stays as it is. */
const connection = document.querySelector('#connection');
const POLL_MS = 5000;
const LONGEST_MS = 20_000;
let heardAt = Date.now();
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
  const fields = [...document.querySelectorAll<HTMLInputElement>('main input:not([type=hidden])')];
  const isChanged = ({ value, defaultValue, checked, defaultChecked }: HTMLInputElement): boolean =>
    value !== defaultValue || checked !== defaultChecked;
  return fields.some((field) => field === document.activeElement || isChanged(field));
}

function known(): void {
  heardAt = Date.now();
  report('');
}

/** Replaces the body of the page. The focus and the position in the grid stay. */
function show(text: string): void {
  known();
  // A form that came back stays until it is sent again.
  if (document.querySelector('.sent')) return;
  const next = new DOMParser().parseFromString(text, 'text/html').querySelector('main');
  const main = document.querySelector('main');
  waiting = undefined;
  if (!next || !main || next.outerHTML === shown) return;
  if (isTyping()) {
    waiting = text;
    return report('The page has changed. It is updated when the form is sent or empty.');
  }
  shown = next.outerHTML;
  const link = document.activeElement?.getAttribute('href');
  const left = document.querySelector('.scroll')?.scrollLeft;
  const done = main.querySelector('.done');
  main.replaceWith(next);
  if (done) next.querySelector('h1')?.after(done);
  prepareGrid(link);
  document.querySelector('.scroll')?.scrollTo({ left: left ?? 0 });
}

function lost(what: string): void {
  report(`${what}. This is what was known at ${new Date(heardAt).toLocaleTimeString()}.`);
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

/** One cell can be reached by Tab, and the others by the arrow keys. */
function prepareGrid(focused?: string | null): void {
  const cells = [...document.querySelectorAll<HTMLAnchorElement>('#grid td a')];
  const found = cells.find((cell) => focused !== undefined && cell.getAttribute('href') === focused);
  for (const cell of cells) cell.tabIndex = -1;
  const first = found ?? cells[0];
  if (first) first.tabIndex = 0;
  found?.focus();
  const scroll = document.querySelector('.scroll');
  if (scroll && !focused) scroll.scrollLeft = scroll.scrollWidth;
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
    const next = table.rows[row]?.cells[column];
    if (!next || row < table.tHead!.rows.length) return;
    const link = next.querySelector('a');
    if (!link) continue;
    for (const each of table.querySelectorAll<HTMLAnchorElement>('td a')) each.tabIndex = -1;
    link.tabIndex = 0;
    link.focus();
    return;
  }
}

prepareGrid();
document.addEventListener('keydown', move);
document.addEventListener('visibilitychange', refresh);
setInterval(refresh, POLL_MS);
