import { randomBytes } from 'node:crypto';
import { systemClock, withinLimit } from '../core/clock';
import type { Access, AccessFunction } from './options';
import { deleteCookie, getCookie, setCookie, type Context } from './vendor';

const NONE: Access = { level: 'none' };
const LONGEST_ANSWER_MS = 5000;
const QUIET_MS = 60_000;

/**
 * What the application answers. An error, no answer within 5 s, or anything else counts as `'none'`.
 *
 * @param warn gets at most one of these faults a minute, because anyone can send requests. Never what was returned: it can
 * be a user with secrets
 */
export function accessAsker(
  access: AccessFunction,
  warn: (message: string, error?: unknown) => void,
): (request: Request) => Promise<Access> {
  let quietUntil = -Infinity;
  const none = (fault: string, error?: unknown): Access => {
    if (performance.now() >= quietUntil) {
      quietUntil = performance.now() + QUIET_MS;
      warn(`access of the dashboard ${fault}, so the request has no access.`, error);
    }
    return NONE;
  };
  return async (request) => {
    try {
      const asked = Promise.resolve(access(request));
      const given: unknown = await withinLimit(systemClock, asked, LONGEST_ANSWER_MS);
      if (given === 'time-out') return none('did not answer within 5 s');
      const { level, actor } = (given ?? {}) as Partial<Access>;
      if (level === 'none') return NONE;
      if (level === 'read') return { level, actor: isActor(actor) ? actor : undefined };
      if (level !== 'operate') return none(`returned no level of 'none', 'read' and 'operate'`);
      if (!isActor(actor)) return none(`returned 'operate' without an actor of 1 to 128 characters`);
      return { level, actor };
    } catch (error) {
      return none('failed', error);
    }
  };
}

function isActor(actor: unknown): actor is string {
  return typeof actor === 'string' && actor.trim() !== '' && Array.from(actor).length <= 128;
}

const COOKIE = 'cronlatch_form';
const OWN = { httpOnly: true, sameSite: 'Strict' } as const;

/** A form sends it back, so that no other site can send the form. */
export function tokenOf(context: Context): string {
  const known = getCookie(context, COOKIE);
  if (known !== undefined && /^[\w-]{22}$/.test(known)) return known;
  const token = randomBytes(16).toString('base64url');
  setCookie(context, COOKIE, token, OWN);
  return token;
}

export function isTokenOf(context: Context, token: string | undefined): boolean {
  return token !== undefined && token === getCookie(context, COOKIE);
}

/**
 * Why a form may not act: it does not come from a page of this dashboard. Looks only at the headers.
 *
 * @param origins the only ones from which forms are accepted. Default: that of the request
 * @returns a sentence; `undefined` if it may
 */
export function refusalOf(context: Context, origins: readonly string[] | undefined): string | undefined {
  const site = context.req.header('sec-fetch-site');
  const origin = context.req.header('origin');
  if (site !== undefined && site !== 'same-origin') return `The browser reports that the form is ${site}.`;
  if (origin === undefined) return 'The request has no Origin.';
  if ((origins ?? [new URL(context.req.url).origin]).includes(origin)) return undefined;
  return `The form comes from ${origin}. If this is the address of the dashboard behind a proxy, pass it in origins.`;
}

const DONE = 'cronlatch_done';

/** The page that the browser loads next reports this act as done. A link could claim an act that was never done. */
export function willReport(context: Context, act: string): void {
  setCookie(context, DONE, act, { ...OWN, maxAge: 60 });
}

/** Only for a page that the browser opens, not for one that its script loads. */
export function takeDone(context: Context): string | undefined {
  const done = getCookie(context, DONE);
  if (done === undefined || context.req.header('sec-fetch-dest') === 'empty') return undefined;
  deleteCookie(context, DONE);
  return done;
}
