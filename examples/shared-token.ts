/**
 * An access token that eight processes share: one of them refreshes it before it expires, and the others use the old one until then.
 *
 * Run: npm run example shared-token
 * Prints, after some seconds:
 *   8 processes have read the token 1000 times each
 *   … tokens were issued, none of them while another one was fresh
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { refreshOnce } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

const PROCESSES = 8;
const READS = 1000;
const FRESH_MS = 1000; // Then it is time to refresh the token.
const USABLE_MS = 60_000; // Then the token is worthless.

interface Token {
  readonly id: number;
  readonly issuedAt: number;
}

async function readTokens(): Promise<readonly Token[]> {
  const query = 'SELECT id, issued_at FROM example_token ORDER BY id DESC';
  const rows: { id: number; issued_at: number | string }[] = await dataSource.query(query);
  return rows.map((row) => ({ id: Number(row.id), issuedAt: Number(row.issued_at) }));
}

async function issueToken(last: Token | undefined): Promise<Token> {
  const token = { id: (last?.id ?? 0) + 1, issuedAt: Date.now() }; // A real one is fetched from its issuer.
  const row = { id: token.id, issued_at: token.issuedAt };
  await dataSource
    .createQueryBuilder()
    .insert()
    .into('example_token', Object.keys(row))
    .values(row)
    .execute();
  return token;
}

async function useToken(): Promise<void> {
  const guard = await createJobGuard(dataSource);
  const manager = guard.lockManager();
  for (let read = 0; read < READS; read += 1) {
    await refreshOnce({
      ...{ manager, name: 'access-token', lockAtMostFor: '10s', wait: '30s' },
      read: async () => (await readTokens())[0],
      isFresh: ({ issuedAt }) => Date.now() < issuedAt + FRESH_MS,
      isUsable: ({ issuedAt }) => Date.now() < issuedAt + USABLE_MS,
      refresh: issueToken,
    });
  }
  await guard.close();
}

async function startProcesses(): Promise<void> {
  await dataSource.runMigrations(); // Creates the lock table.
  await dataSource.query('DROP TABLE IF EXISTS example_token');
  await dataSource.query('CREATE TABLE example_token (id BIGINT PRIMARY KEY, issued_at BIGINT NOT NULL)');
  const processes = Array.from({ length: PROCESSES }, () => fork(__filename, ['use']));
  for (const [code] of await Promise.all(processes.map((each) => once(each, 'exit'))))
    if (code !== 0) throw new Error(`A process has ended with code ${String(code)}.`);
  console.log(`${PROCESSES} processes have read the token ${READS} times each`);
  const tokens = await readTokens();
  for (const [i, { id, issuedAt }] of tokens.entries()) {
    const before = tokens[i + 1];
    if (before !== undefined && issuedAt < before.issuedAt + FRESH_MS)
      throw new Error(`Token ${id} was issued while token ${before.id} was fresh.`);
  }
  console.log(`${tokens.length} tokens were issued, none of them while another one was fresh`);
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await (process.argv[2] === 'use' ? useToken() : startProcesses());
  await dataSource.destroy();
}

void main();
