import {
  InvalidLockConfigurationError,
  InvalidLockUseError,
  LockStorageError,
  SchemaMismatchError,
} from '../core';
import { checkOptionNames, refuseOption } from '../core/options';
import type { JobGuard } from '../guard';
import { callsOf, isJobGuard } from '../guard/calls/calls';
import { checkTimeZone } from '../ledger/periods/time-zone';
import { escapeUnsafe } from '../guard/log/logger';
import { spokenTime } from '../guard/log/time-texts';
import type { WhenOfJob } from '../operations/overview';
import { ACTS, actOf } from '../operations/acts';
import { accessAsker, isTokenOf, refusalOf, takeDone, tokenOf, willReport } from './access';
import { CachedReads } from './cached-reads';
import { perform } from './forms';
import { jobPage } from './job-page';
import { documentOf, mainOf, UNRECORDED } from './layout';
import { lockPage, locksPage } from './locks-page';
import type { Access, Dashboard, DashboardOptions } from './options';
import { overviewPage } from './overview-page';
import { linkTo, type Page } from './parts';
import { runPage } from './run-page';
import { NotFoundError, soonKnown, zoneOfJobs, type View } from './view';
import { compress, etag, Hono, html, SCRIPT, secureHeaders, STYLE, type Context } from './vendor';

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

const NO_ACCESS =
  'You may not see this dashboard. Sign in to the application that serves it, or ask its operators.';

/** In bytes. A form has a few fields, and one text for people. */
const LONGEST_FORM = 65_536;

/**
 * A dashboard of the jobs of all instances, for any server: it takes a `Request` and returns a `Response`.
 *
 * @throws InvalidLockConfigurationError without a guard or `access`
 */
export function createDashboard(options: DashboardOptions): Dashboard {
  checkOptions(options);
  const { guard, origins, hideResults: hidesResults = false } = options;
  const hosts = origins?.map((origin) => new URL(origin).host);
  const accessOf = accessAsker(options.access, (...of) => callsOf(guard).warn(...of));
  const reads = new CachedReads();
  /** The last one that was known. */
  let timeZone = options.timeZone ?? 'UTC';
  const viewOf = async (context: Context, allowed: Access, more: Partial<View>): Promise<View> => {
    const query = new URL(context.req.url).searchParams;
    const known = options.timeZone === undefined && (await soonKnown({ guard, reads }));
    if (known) timeZone = zoneOfJobs(known);
    const when: WhenOfJob = (instant, { now }) => spokenTime(instant, timeZone, now);
    const of = { guard, reads, query, timeZone, when, now: new Date(), access: allowed };
    return { ...of, token: tokenOf(context), hidesResults, ...more };
  };
  const app = new Hono();
  app.use(secureHeaders(HEADERS), compress());
  app.use(async (context, next) => {
    context.header('Cache-Control', 'no-store');
    const { host } = new URL(context.req.url);
    if (hosts === undefined || hosts.includes(host)) return await next();
    const text = `This dashboard does not answer to ${host}. If this is its address, add it to origins.`;
    return await problem(context, 403, 'Not allowed', text);
  });
  app.onError((error, context) => failed(error, context, guard));
  app.get('*', etag(), async (context) => {
    const asset = ASSETS.get(context.req.query('asset') ?? '');
    if (asset) return context.body(asset[1], 200, { 'Content-Type': asset[0] });
    const allowed = await accessOf(context.req.raw);
    if (allowed.level === 'none') return problem(context, 401, 'No access', NO_ACCESS);
    return await shown(context, await viewOf(context, allowed, { done: takeDone(context) }));
  });
  app.post('*', async (context) => {
    const allowed = await accessOf(context.req.raw);
    if (allowed.level === 'none') return problem(context, 401, 'No access', NO_ACCESS);
    const refusal =
      allowed.level === 'operate' ? refusalOf(context, origins) : 'You may read, but not operate.';
    if (refusal !== undefined) return problem(context, 403, 'Not allowed', refusal);
    const values = await formOf(context);
    if (values === undefined)
      return problem(context, 413, 'Too long', 'The form is longer than 64 kB. Shorten its texts.');
    if (!isTokenOf(context, values['token']))
      return problem(context, 403, 'Not allowed', 'The page is too old. Load it again.');
    const { sent, isRecorded } = await perform(await viewOf(context, allowed, {}), values);
    reads.clear();
    if (sent !== undefined)
      return await shown(context, await viewOf(context, allowed, { sent }), sent.error ? 422 : 200);
    const { job, scope, period, lock, act = '' } = values;
    willReport(context, isRecorded ? act : `${act}${UNRECORDED}`);
    const { page } = actOf(act);
    const place = page === 'overview' ? {} : { job, scope, period: page ? undefined : period, lock };
    return context.redirect(`${linkTo(place)}#main`, 303);
  });
  return async (request) => await app.fetch(request);
}

function checkOptions(options: DashboardOptions): void {
  checkOptionNames(options, ['guard', 'access', 'origins', 'timeZone', 'hideResults'], 'createDashboard');
  const given: { [K in keyof DashboardOptions]: unknown } = options;
  const { guard, access, origins = [], timeZone, hideResults = false } = given;
  const check = (isValid: boolean, name: string, value: unknown, why: string): void => {
    if (!isValid) refuseOption(`${name} of createDashboard`, value, why);
  };
  check(isJobGuard(guard), 'guard', guard, 'pass a job guard');
  const levels = "pass a function that returns { level: 'none' | 'read' | 'operate', actor }";
  check(typeof access === 'function', 'access', access, levels);
  if (timeZone !== undefined) checkTimeZone(timeZone as string, 'timeZone of createDashboard');
  check(typeof hideResults === 'boolean', 'hideResults', hideResults, 'it must be true or false');
  check(Array.isArray(origins), 'origins', origins, 'it must be a list');
  for (const origin of origins as readonly unknown[]) {
    const isOrigin = typeof origin === 'string' && URL.canParse(origin) && new URL(origin).origin === origin;
    check(isOrigin, 'origins', origin, "it must be a scheme and a host, as in 'https://ops.example.com'");
  }
}

/** @returns `undefined` for a form that is too long, of which no more is read */
async function formOf({ req }: Context): Promise<Record<string, string> | undefined> {
  if (Number(req.header('content-length')) > LONGEST_FORM) return undefined;
  const parts: Uint8Array[] = [];
  let size = 0;
  const body: AsyncIterable<Uint8Array> | null = req.raw.body;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > LONGEST_FORM) return undefined;
    parts.push(part);
  }
  const fields = new URLSearchParams(Buffer.concat(parts).toString());
  return Object.fromEntries([...fields].map(([name, text]) => [name, text.trim()]));
}

async function pageOf(view: View): Promise<Page> {
  const { query } = view;
  const [job, period, lock] = ['job', 'period', 'lock'].map((name) => query.get(name));
  if (lock) return await lockPage(view, lock);
  if (query.has('locks')) return await locksPage(view);
  if (!job) return await overviewPage(view);
  return period && ACTS.get(view.sent?.values['act'] ?? '')?.page === undefined
    ? await runPage(view, { job, scope: query.get('scope') ?? '', periodKey: period })
    : await jobPage(view, job);
}

async function shown(context: Context, view: View, status: 200 | 422 = 200): Promise<Response> {
  const page = await pageOf(view);
  const text = (await documentOf(view, page.tab ?? page.title, await mainOf(view, page))).toString();
  // In texts, characters that hide or turn others become codes. Attributes stay, because a form sends them back.
  const escaped = text.replaceAll(/>[^<]+/g, (part) => part.split('\n').map(escapeUnsafe).join('\n'));
  return context.html(escaped, status);
}

const MAYBE_DONE = 'Your act may have been done: look before you send it again.';

/** What an operator reads about an error. The database's own words can contain secrets, so only its kind is shown. */
function failed(error: Error, context: Context, guard: JobGuard): Promise<Response> {
  const isMisuse = error instanceof InvalidLockUseError || error instanceof InvalidLockConfigurationError;
  if (error instanceof NotFoundError || isMisuse) return problem(context, 404, 'Not found', error.message);
  const help = 'Create what is missing with npx cronlatch init.';
  if (error instanceof SchemaMismatchError)
    return problem(context, 503, 'Tables', `${error.message} ${help}`);
  if (error instanceof LockStorageError) {
    const isOfLock = ['lock', 'locks'].some((name) => context.req.query(name) !== undefined);
    const advice = context.req.method === 'POST' ? MAYBE_DONE : 'Load the page again.';
    const text = `The ${isOfLock ? 'lock provider' : 'database'} did not answer. ${advice}`;
    return problem(context, 503, 'No answer', text);
  }
  callsOf(guard).warn('A page of the dashboard failed.', error);
  return problem(context, 500, 'Failed', 'The page could not be made. A warning of the guard has the error.');
}

type Status = 401 | 403 | 404 | 413 | 500 | 503;

async function problem(context: Context, status: Status, title: string, text: string): Promise<Response> {
  const main = await html`<main id="main">
    <h1>${title}</h1>
    <p role="alert">${text}</p>
    <p><a href="?">All jobs</a></p>
  </main>`;
  return context.html(documentOf(undefined, title, main), status);
}
