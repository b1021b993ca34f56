import { PrismaMariaDb } from '@prisma/adapter-mariadb';
import { PrismaPg } from '@prisma/adapter-pg';
import { adapt } from '../../docs/query-builders/prisma';
import { testBuilder, type Builder } from '../builder-tests';
import { PrismaClient as MysqlClient } from './generated/client.js';
import { PrismaClient as PostgresClient } from '../../docs/query-builders/generated/client.js';

function openMysql(url: string, options: { useTextProtocol?: boolean } = {}): Builder {
  const { hostname, port, username, pathname } = new URL(url);
  const settings = { host: hostname, port: Number(port), user: username, database: pathname.slice(1) };
  const adapter = new PrismaMariaDb({ ...settings, allowPublicKeyRetrieval: true }, options);
  // Its client is not the one of the page, so neither is its type.
  const prisma = new MysqlClient({ adapter });
  return {
    transaction: (work) =>
      prisma.$transaction((tx) =>
        work({
          adapted: adapt(tx as never),
          insert: (id, text) => tx.effects.create({ data: { id, text } }),
          commitBehind: () => tx.$executeRawUnsafe('COMMIT'),
        }),
      ),
    outside: adapt(prisma as never),
    close: () => prisma.$disconnect(),
  };
}

function openPostgres(url: string): Builder {
  const prisma = new PostgresClient({ adapter: new PrismaPg({ connectionString: url }) });
  return {
    transaction: (work) =>
      prisma.$transaction((tx) =>
        work({
          adapted: adapt(tx),
          insert: (id, text) => tx.effects.create({ data: { id, text } }),
          commitBehind: () => tx.$executeRawUnsafe('COMMIT'),
        }),
      ),
    outside: adapt(prisma),
    close: () => prisma.$disconnect(),
  };
}

testBuilder('prisma', (url, server) => (server === 'postgres' ? openPostgres(url) : openMysql(url)));

testBuilder('prisma with the text protocol', (url) => openMysql(url, { useTextProtocol: true }), ['mysql']);
