import type { JobGuard } from 'cronlatch';
import { createDashboard, type Dashboard, type DashboardOptions } from 'cronlatch/dashboard';

export const ORIGIN = 'https://ops.example.com';
export const ANNE = { level: 'operate', actor: 'anne' } as const;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

type Fields = Readonly<Record<string, string>>;

/** A dashboard, and a browser that keeps its cookies. */
export interface Site {
  readonly dashboard: Dashboard;
  readonly get: (query?: string) => Promise<Answer>;
  /** Sends the form `#act` of this page, with what the operator types. */
  readonly send: (query: string, act: string, typed?: Fields, headers?: Fields) => Promise<Answer>;
  /** Sends any fields. */
  readonly post: (query: string, fields: Fields, headers?: Fields) => Promise<Answer>;
}

export function siteOf(guard: JobGuard, options: Partial<DashboardOptions> = {}): Site {
  const dashboard = createDashboard({ guard, access: () => ANNE, ...options });
  const cookies = new Map<string, string>();
  const call = async (query: string, init: RequestInit = {}): Promise<Answer> => {
    const kept = [...cookies].map(([name, value]) => `${name}=${value}`);
    const headers = { Cookie: kept.join('; '), ...(init.headers as Fields | undefined) };
    const response = await dashboard(new Request(`${ORIGIN}/jobs${query}`, { ...init, headers }));
    for (const text of response.headers.getSetCookie()) {
      const [, name = '', value = '', rest = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(text) ?? [];
      if (rest.includes('Max-Age=0')) cookies.delete(name);
      else cookies.set(name, value);
    }
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const post: Site['post'] = (query, fields, headers = {}) =>
    call(query, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { Origin: ORIGIN, 'Sec-Fetch-Site': 'same-origin', ...headers },
    });
  return {
    dashboard,
    get: (query = '') => call(query),
    post,
    async send(query, act, typed = {}, headers = {}) {
      const fields = { ...fieldsOf((await call(query)).text, act), reason: 'ticket 7', ...typed };
      return await post(query, fields, headers);
    },
  };
}

/** The values that a form would send as it is, without its confirmation. */
export function fieldsOf(page: string, act: string): Record<string, string> {
  const form = new RegExp(`<form [^>]*id="${act}"[^]*?</form>`).exec(page)?.[0];
  if (form === undefined) throw new Error(`The page has no form '${act}': ${page}`);
  const inputs = [...form.matchAll(/<input ([^>]*)>/g)].map(([, text = '']) => text);
  const values = inputs
    .filter((text) => !text.includes('checkbox'))
    .map((text) => [valueOf(text, 'name'), valueOf(text, 'value')]);
  return Object.fromEntries(values) as Record<string, string>;
}

/** What the checkbox of a form sends, if it asks for a confirmation. */
export function confirmationIn(page: string): string | undefined {
  const [input] = /<input type="checkbox" name="confirmed"[^>]*>/.exec(page) ?? [];
  return input && valueOf(input, 'value');
}

function valueOf(text: string, attribute: string): string {
  return new RegExp(` ?${attribute}="([^"]*)"`).exec(text)?.[1] ?? '';
}
