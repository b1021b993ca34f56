import { RedisLockProvider } from 'cronlatch/redis';
import { createClient } from 'redis';

export async function connect(url: string) {
  const client = createClient({ url });
  client.on('error', (error: Error) => console.error(error.message));
  await client.connect();
  const locks = new RedisLockProvider({ id: 'orders', client, subscriber: client.duplicate() });
  return { client, locks };
}
