import { InvalidArgumentError, Option, type Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Access, Dashboard } from '../../dashboard';
import { InvalidLockConfigurationError, SchemaMismatchError } from '../../core';
import type { JobGuard } from '../../guard';
import { JobCatalog } from '../../operations/job-catalog';
import { addGuardSource, type Options } from '../options';
import { actorOption, withGuard } from '../guard-command';
import { print, printNote } from '../terminal';

interface DashboardCommandOptions extends Options {
  readonly port: number;
  readonly readOnly?: boolean;
  readonly hideResults?: boolean;
  readonly actor: string;
}

/** `cronlatch dashboard`: the dashboard for the person at this machine, until Ctrl-C. */
export function addDashboardCommand(program: Command): void {
  const port = new Option('--port <port>', 'the port on 127.0.0.1')
    .argParser(portOf)
    .default(0, 'a free one');
  addGuardSource(program.command('dashboard').description('show jobs and business days in a browser'))
    .addOption(port)
    .option('--read-only', 'only show, and change nothing')
    .option('--hide-results', 'show neither results nor logs of runs')
    .addOption(actorOption())
    .action(withGuard(serve));
}

async function serve(guard: JobGuard, options: DashboardCommandOptions): Promise<void> {
  const { port, readOnly, hideResults, actor } = options;
  const access: Access = { level: readOnly ? 'read' : 'operate', actor };
  // Other commands do not need its packages.
  const { createDashboard, toNodeHandler } = await import('../../dashboard/index.js');
  guard.on('guard:warning', ({ message }) => void printNote(message));
  await askDatabase(guard);
  const entrance = new Entrance();
  const dashboard = createDashboard({ guard, hideResults, access: () => access });
  const server = createServer(toNodeHandler((request) => entrance.pass(request, dashboard)));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  entrance.port = (server.address() as AddressInfo).port;
  print(`http://127.0.0.1:${entrance.port}/?token=${entrance.token}`);
  printNote('The address works once, within 5 minutes. Ctrl-C ends the dashboard.');
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  server.close();
  server.closeAllConnections();
}

/** So that a wrong password ends the command, and not the first page. The pages of locks need no runs. */
async function askDatabase(guard: JobGuard): Promise<void> {
  try {
    await JobCatalog.of(guard);
  } catch (error) {
    if (error instanceof SchemaMismatchError) printNote(error.message);
    else if (!(error instanceof InvalidLockConfigurationError)) throw error;
  }
}

const TOKEN_WORKS_MS = 300_000;
const COOKIE = 'cronlatch_session';

/** Lets one browser in. Another page cannot reach it by a name of its own for 127.0.0.1. */
class Entrance {
  readonly token = randomBytes(24).toString('base64url');
  port = 0;
  readonly #session = randomBytes(24).toString('base64url');
  /** Browsers send a cookie to every port of a host. So that of the session is only for this path, which no other server knows. */
  readonly #path = `/${randomBytes(24).toString('base64url')}/`;
  readonly #endsAt = performance.now() + TOKEN_WORKS_MS;
  #isOpen = true;

  async pass(request: Request, dashboard: Dashboard): Promise<Response> {
    const host = request.headers.get('host');
    if (host !== `127.0.0.1:${this.port}` && host !== `localhost:${this.port}`)
      return new Response('This dashboard only answers to 127.0.0.1 and localhost.', { status: 403 });
    const { pathname, searchParams } = new URL(request.url);
    const given = searchParams.get('token');
    if (given !== null) return this.#enter(given);
    const cookies = (request.headers.get('cookie') ?? '').split(/;\s*/);
    if (pathname === this.#path && cookies.includes(`${COOKIE}=${this.#session}`))
      return await dashboard(request);
    return new Response('Only the browser that has opened the address of the command sees the dashboard.', {
      status: 401,
    });
  }

  #enter(token: string): Response {
    const isRight = this.#isOpen && token === this.token && performance.now() < this.#endsAt;
    if (!isRight)
      return new Response('This address has been used, or is too old. Start the command again.', {
        status: 401,
      });
    this.#isOpen = false;
    const cookie = `${COOKIE}=${this.#session}; Path=${this.#path}; HttpOnly; SameSite=Strict`;
    return new Response(null, { status: 303, headers: { Location: this.#path, 'Set-Cookie': cookie } });
  }
}

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new InvalidArgumentError('Write a port from 0 to 65535.');
}
