import { currentRun } from 'cronlatch';
import { completeRunIn, type AdaptedTransaction } from 'cronlatch/pg';
import type { Prisma, PrismaClient } from './generated/client';

export function adapt(tx: Prisma.TransactionClient): AdaptedTransaction {
  return {
    dialect: 'postgres',
    async run(text, values) {
      if (/\b(SELECT|RETURNING)\b/.test(text))
        return { rows: await tx.$queryRawUnsafe(text, ...values), affectedRows: undefined };
      return { rows: [], affectedRows: await tx.$executeRawUnsafe(text, ...values) };
    },
  };
}

export async function closeDay(prisma: PrismaClient): Promise<void> {
  const { businessDate = '' } = currentRun();
  await prisma.$transaction(async (tx) => {
    await tx.closings.create({ data: { day: businessDate } });
    await completeRunIn(adapt(tx), { result: 'closed with Prisma' });
  });
}
