import {
  InvalidLockConfigurationError,
  InvalidLockUseError,
  LockStorageError,
  SchemaMismatchError,
} from '../core';
import { describeValue } from '../core/options';
import type { JobGuard } from '../guard';
import { integrationOf, isJobGuard } from '../guard/integration';
import { accessAsker, refusalOf, tokenOf } from './access';
import { perform } from './acts';
import { CachedReads } from './cached-reads';
import { jobPage } from './job-page';
import { documentOf, linkTo, mainOf, NotFoundError, type Page, type SentForm, type View } from './layout';
import { lockPage, locksPage } from './locks-page';
import type { Access, Dashboard, DashboardOptions } from './options';
import { overviewPage } from './overview-page';
import { runPage } from './run-page';
import { compress, Hono, html, SCRIPT, secureHeaders, streamSSE, STYLE, type Context } from './vendor';

const HEADERS = {
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'"],
    connectSrc: ["'self'"],
    formAction: ["'self'"],
    baseUri: ["'none'"],
    frameAncestors: ["'none'"],
  },
  // With no-referrer, browsers send the origin of a form as null.
  referrerPolicy: 'same-origin',
  xFrameOptions: 'DENY',
  strictTransportSecurity: false,
};

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M4 7V5a4 4 0 0 1 8 0v2h1v8H3V7zm2 0h4V5a2 2 0 0 0-4 0z" fill="#2a6"/></svg>`;

const ASSETS: ReadonlyMap<string, readonly [type: string, text: string]> = new Map([
  ['style', ['text/css; charset=utf-8', STYLE]],
  ['script', ['text/javascript; charset=utf-8', SCRIPT]],
  ['icon', ['image/svg+xml', ICON]],
]);

/** How often an open page is read again, and its access asked for again. */
const REFRESH_MS = 5000;
const ASK_AGAIN_MS = 30_000;
/** Pages beyond this poll. */
const MOST_STREAMS = 100;

/**
 * A dashboard of the jobs of all instances, for any server: it takes a `Request` and returns a `Response`.
 *
 * @throws InvalidLockConfigurationError without a guard or `access`
 */
export function createDashboard(options: DashboardOptions): Dashboard {
  checkOptions(options);
  const { guard, origins = [], hideResults: hidesResults = false } = options;
  const accessOf = accessAsker(options.access, (...of) => integrationOf(guard).warn(...of));
  const reads = new CachedReads();
  let streams = 0;
  const viewOf = (context: Context, allowed: Access, sent?: SentForm): View => {
    const query = new URL(context.req.url).searchParams;
    return { guard, reads, query, access: allowed, token: tokenOf(context), hidesResults, sent };
  };
  const app = new Hono();
  app.use(secureHeaders(HEADERS), compress());
  app.use(async (context, next) => {
    context.header('Cache-Control', 'no-store');
    await next();
  });
  app.onError((error, context) => failed(error, context, guard));
  app.get('*', async (context) => {
    const asset = ASSETS.get(context.req.query('asset') ?? '');
    if (asset) return context.body(asset[1], 200, { 'Content-Type': asset[0] });
    const allowed = await accessOf(context.req.raw);
    if (allowed.level === 'none') return refused(context);
    const view = viewOf(context, allowed);
    if (context.req.query('events') === undefined) return await shown(context, view);
    if (streams >= MOST_STREAMS) return context.text('Too many open pages.', 503);
    streams += 1;
    return streamSSE(context, async (stream) => {
      try {
        await follow(view, () => accessOf(context.req.raw), stream);
      } finally {
        streams -= 1;
      }
    });
  });
  app.post('*', async (context) => {
    const allowed = await accessOf(context.req.raw);
    if (allowed.level === 'none') return refused(context);
    const values = textsOf(await context.req.parseBody());
    const refusal =
      allowed.level === 'operate'
        ? refusalOf(context, values['token'], origins)
        : 'You may read, but not operate.';
    if (refusal !== undefined) return problem(context, 403, 'Not allowed', refusal);
    const sent = await perform(guard, allowed.actor ?? '', values);
    reads.clear();
    if (sent !== undefined)
      return await shown(context, viewOf(context, allowed, sent), sent.error ? 422 : 200);
    const { job, scope, period, lock, act } = values;
    const place = act === 'forget' ? {} : { job, scope, period: act === 'run' ? undefined : period, lock };
    return context.redirect(`${linkTo({ ...place, done: act })}#main`, 303);
  });
  return async (request) => await app.fetch(request);
}

function checkOptions({ guard, access }: DashboardOptions): void {
  if (!isJobGuard(guard))
    throw new InvalidLockConfigurationError(
      `guard of createDashboard is ${describeValue(guard)}: pass a job guard.`,
    );
  if (typeof access !== 'function')
    throw new InvalidLockConfigurationError(
      `access of createDashboard is ${describeValue(access)}: pass a function that returns { level: 'none' | 'read' | 'operate', actor }.`,
    );
}

/** Files of a form are left out. */
function textsOf(form: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = Object.entries(form).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(texts.map(([name, text]) => [name, text.trim()]));
}

async function pageOf(view: View): Promise<Page> {
  const { query } = view;
  const [job, period, lock] = ['job', 'period', 'lock'].map((name) => query.get(name));
  if (lock) return await lockPage(view, lock);
  if (query.has('locks')) return await locksPage(view);
  if (!job) return await overviewPage(view);
  return period && view.sent?.values['act'] !== 'run'
    ? await runPage(view, { job, scope: query.get('scope') ?? '', periodKey: period })
    : await jobPage(view, job);
}

async function shown(context: Context, view: View, status: 200 | 422 = 200): Promise<Response> {
  const page = await pageOf(view);
  return context.html(documentOf(view, page.title, await mainOf(view, page)), status);
}

interface EventStream {
  readonly aborted: boolean;
  readonly closed: boolean;
  writeSSE(event: { readonly event: string; readonly data: string }): Promise<void>;
  sleep(ms: number): Promise<unknown>;
}

/** Sends the page whenever it has changed, until the browser closes it or access ends. */
async function follow(view: View, ask: () => Promise<Access>, stream: EventStream): Promise<void> {
  let last: string | undefined;
  let askAt = performance.now() + ASK_AGAIN_MS;
  while (!stream.aborted && !stream.closed) {
    if (performance.now() >= askAt) {
      const { level, actor } = await ask();
      if (level !== view.access.level || actor !== view.access.actor) return;
      askAt = performance.now() + ASK_AGAIN_MS;
    }
    const text = await pageOf(view).then(
      (page) => mainOf(view, page),
      (error: unknown) => (error instanceof NotFoundError ? undefined : ''),
    );
    if (text === undefined) return;
    if (text === '') await stream.writeSSE({ event: 'trouble', data: '' });
    else await stream.writeSSE(text === last ? { event: 'same', data: '' } : { event: 'page', data: text });
    last = text;
    await stream.sleep(REFRESH_MS);
  }
}

function refused(context: Context): Promise<Response> {
  return problem(
    context,
    401,
    'No access',
    'You may not see this dashboard. Its function access decides that.',
  );
}

const MAYBE_DONE = 'Your act may have been done: look before you send it again.';

/** What an operator reads about an error. The database's own words can contain secrets, so only its kind is shown. */
function failed(error: Error, context: Context, guard: JobGuard): Promise<Response> {
  if (error instanceof NotFoundError) return problem(context, 404, 'Not found', error.message);
  if (error instanceof SchemaMismatchError)
    return problem(
      context,
      503,
      'Tables',
      `${error.message} Create what is missing with npx cronlatch init.`,
    );
  const isAct = context.req.method === 'POST';
  if (error instanceof LockStorageError)
    return problem(
      context,
      503,
      'No answer',
      `The database did not answer. ${isAct ? MAYBE_DONE : 'Load the page again.'}`,
    );
  const isMisuse = error instanceof InvalidLockUseError || error instanceof InvalidLockConfigurationError;
  if (isMisuse) return problem(context, 404, 'Not found', error.message);
  integrationOf(guard).warn('A page of the dashboard failed.', error);
  return problem(context, 500, 'Failed', 'The page could not be made. A warning of the guard has the error.');
}

type Status = 401 | 403 | 404 | 500 | 503;

async function problem(context: Context, status: Status, title: string, text: string): Promise<Response> {
  const main = await html`<main id="main">
    <h1>${title}</h1>
    <p role="alert">${text}</p>
    <p><a href="?">Overview</a></p>
  </main>`;
  return context.html(documentOf(undefined, title, main), status);
}
