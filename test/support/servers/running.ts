interface Server {
  readonly name: string;
  /** Names no database. */
  readonly url: string;
  readonly version: string;
  readonly origin: string;
}

const servers = JSON.parse(process.env['CRONLATCH_TEST_SERVERS'] ?? '[]') as Server[];

/** The server that the test run has started, if any. */
export function runningServer(name: string): Server | undefined {
  return servers.find((running) => running.name === name);
}

export function urlOn(name: string, database = ''): string {
  const server = runningServer(name);
  if (server === undefined) throw new Error(`There is no ${name}: use testOn.`);
  const url = new URL(server.url);
  // TypeORM takes the type from the scheme, but a server's URL may use another one, such as postgresql:.
  url.protocol = name;
  url.pathname = `/${database}`;
  return url.href;
}
