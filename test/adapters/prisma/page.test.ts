import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from '../../docs/query-builders/generated/client.js';
import { closeDay } from '../../docs/query-builders/prisma';
import { runOnce, testModule, testPage } from '../page-test';

testPage('Prisma', async (url) => {
  const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
  await runOnce(url, () => closeDay(prisma));
  await prisma.$disconnect();
});

testModule('Prisma', () => import('../../docs/query-builders/prisma.module.js'));
