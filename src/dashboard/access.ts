import { randomBytes } from 'node:crypto';
import type { Access, AccessFunction } from './options';
import { getCookie, setCookie, type Context } from './vendor';

const NONE: Access = { level: 'none' };
const LONGEST_ANSWER_MS = 5000;

/** What the application answers. An error, no answer within 5 s, or anything else counts as `'none'`. */
export async function accessOf(access: AccessFunction, request: Request): Promise<Access> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Access>((resolve) => {
    timer = setTimeout(() => resolve(NONE), LONGEST_ANSWER_MS);
  });
  try {
    const given: unknown = await Promise.race([access(request), late]);
    const { level, actor } = (given ?? {}) as Partial<Access>;
    if (level === 'read') return { level, actor: isActor(actor) ? actor : undefined };
    return level === 'operate' && isActor(actor) ? { level, actor } : NONE;
  } catch {
    return NONE;
  } finally {
    clearTimeout(timer);
  }
}

function isActor(actor: unknown): actor is string {
  return typeof actor === 'string' && actor.trim() !== '' && Array.from(actor).length <= 200;
}

const COOKIE = 'cronlatch_form';

/** A form sends it back, so that no other site can send the form. */
export function tokenOf(context: Context): string {
  const known = getCookie(context, COOKIE);
  if (known !== undefined && /^[\w-]{22}$/.test(known)) return known;
  const token = randomBytes(16).toString('base64url');
  setCookie(context, COOKIE, token, { httpOnly: true, sameSite: 'Strict' });
  return token;
}

/**
 * Why a form may not act: it does not come from a page of this dashboard.
 *
 * @param origins from which forms are accepted besides the request's own origin
 * @returns a sentence; `undefined` if it may
 */
export function refusalOf(context: Context, token: unknown, origins: readonly string[]): string | undefined {
  const site = context.req.header('sec-fetch-site');
  const origin = context.req.header('origin');
  if (site !== undefined && site !== 'same-origin') return `The browser reports that the form is ${site}.`;
  if (origin === undefined) return 'The request has no Origin.';
  if (origin !== new URL(context.req.url).origin && !origins.includes(origin))
    return `The form comes from ${origin}. If this is the address of the dashboard behind a proxy, pass it in origins.`;
  const known = getCookie(context, COOKIE);
  return known !== undefined && known === token ? undefined : 'The page is too old. Load it again.';
}
