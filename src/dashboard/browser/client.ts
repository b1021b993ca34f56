/** Keeps the page fresh, and moves through its grid by the arrow keys. Without it, the page works, but stays as it is. */
const connection = document.querySelector('#connection');
const POLL_MS = 10_000;
let heardAt = Date.now();
let isStreaming = false;
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

/** Replaces the body of the page. The focus and the position in the grid stay. */
function show(text: string): void {
  heardAt = Date.now();
  report('');
  // A form that came back stays until it is sent again.
  if (document.querySelector('.sent')) return;
  waiting = isTyping() ? text : undefined;
  if (waiting !== undefined)
    return report('The page has changed. It is updated when the form is sent or empty.');
  const next = new DOMParser().parseFromString(text, 'text/html').querySelector('main');
  const main = document.querySelector('main');
  if (!next || !main) return;
  const link = document.activeElement?.getAttribute('href');
  const left = document.querySelector('.scroll')?.scrollLeft;
  main.replaceWith(next);
  prepareGrid(link);
  document.querySelector('.scroll')?.scrollTo({ left: left ?? 0 });
}

function follow(): void {
  const address = new URL(location.href);
  address.hash = '';
  address.searchParams.set('events', '');
  const events = new EventSource(address);
  events.addEventListener('page', ({ data }: MessageEvent<string>) => show(data));
  events.addEventListener('same', () => {
    heardAt = Date.now();
    if (waiting === undefined) report('');
    else show(waiting);
  });
  events.addEventListener('trouble', () => lost('The database does not answer'));
  events.addEventListener('open', () => (isStreaming = true));
  events.addEventListener('error', () => {
    isStreaming = false;
    lost('The connection is lost');
  });
}

function lost(what: string): void {
  report(`${what}. This is what was known at ${new Date(heardAt).toLocaleTimeString()}.`);
}

/** If nothing streams the events, the page is loaded again now and then. */
async function poll(): Promise<void> {
  if (isStreaming && Date.now() - heardAt < 2 * POLL_MS) return;
  try {
    const response = await fetch(location.href);
    if (response.ok) show(await response.text());
    else lost(response.status === 401 ? 'You have no access any more' : 'The server reports an error');
  } catch {
    lost('The connection is lost');
  }
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
follow();
setInterval(() => void poll(), POLL_MS);
