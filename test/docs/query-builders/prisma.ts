import { currentRun } from 'cronlatch';
import { fromPrisma } from 'cronlatch/adapters';
import { completeRunIn } from 'cronlatch/pg';
import type { PrismaClient } from './generated/client';

export async function closeDay(prisma: PrismaClient): Promise<void> {
  const { businessDate = '' } = currentRun();
  await prisma.$transaction(async (tx) => {
    await tx.closings.create({ data: { day: businessDate } });
    await completeRunIn(fromPrisma(tx), { result: 'closed with Prisma' });
  });
}
