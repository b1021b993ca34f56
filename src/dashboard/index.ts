/**
 * A dashboard of jobs and business days: which ran, failed, are missing, late or held, and what to do about it.
 *
 * `createDashboard` returns a function from `Request` to `Response`. Servers that know these take it as it is. For
 * `node:http`, Express, Fastify and Nest, `toNodeHandler` makes a handler of it.
 *
 * @packageDocumentation
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { warnInProcess } from '../core/warning';
import type { Dashboard } from './options';
import { getRequestListener } from './vendor';

export { createDashboard } from './dashboard';
export type { Access, AccessFunction, AccessLevel, Dashboard, DashboardOptions } from './options';

/**
 * A handler of `node:http`. It also works if a parser of the application has read the form before.
 *
 * @param dashboard as `createDashboard` returns it
 */
export function toNodeHandler(
  dashboard: Dashboard,
): (request: IncomingMessage & { readonly body?: unknown }, response: ServerResponse) => void {
  const listener = getRequestListener(dashboard, { overrideGlobalObjects: false });
  return (request, response) => {
    const { body } = request;
    if (request.readableEnded && typeof body === 'object' && body !== null) {
      let rawBody: Buffer | undefined;
      const get = (): Buffer =>
        (rawBody ??= Buffer.from(new URLSearchParams(body as Record<string, string>).toString()));
      Object.defineProperty(request, 'rawBody', { get });
    }
    Promise.resolve(listener(request, response)).catch((error: unknown) => {
      warnInProcess(`An answer of the dashboard could not be written: ${String(error)}`);
      response.destroy();
    });
  };
}
