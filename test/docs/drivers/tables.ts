import { createTables, verifySchema } from 'cronlatch/pg';

export async function deploy(address: string): Promise<void> {
  await createTables(address);
  for (const { severity, message } of await verifySchema(address)) console.log(severity, message);
}
