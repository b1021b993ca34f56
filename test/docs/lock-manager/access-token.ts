import { refreshOnce, type JobGuard } from 'cronlatch';

export interface Token {
  readonly text: string;
  readonly expiresAt: number;
}

/** What the processes share: a row, a key in Redis, a file. */
export interface TokenStore {
  read(): Promise<Token | undefined>;
  write(token: Token): Promise<void>;
}

export function accessToken(guard: JobGuard, store: TokenStore, issue: () => Promise<Token>) {
  return refreshOnce({
    manager: guard.lockManager(),
    name: 'access-token',
    read: () => store.read(),
    isFresh: (token) => Date.now() < token.expiresAt - 60_000,
    isUsable: (token) => Date.now() < token.expiresAt,
    async refresh() {
      const token = await issue();
      await store.write(token); // `read` must find it, in every process.
      return token;
    },
    lockAtMostFor: '30s', // Longer than a refresh takes.
    wait: '10s',
  });
}
