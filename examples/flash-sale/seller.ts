import { once } from 'node:events';
import dataSource from '../../ormconfig';
import { kindOfLock, LOCKS } from './locks';
import { sellUntilSoldOut, Shop } from './shop';

async function main(): Promise<void> {
  await dataSource.initialize();
  const guard = await LOCKS[kindOfLock](dataSource);
  process.send?.('ready');
  await once(process, 'message');
  const sold = await sellUntilSoldOut(guard, new Shop(dataSource));
  await guard.close();
  await dataSource.destroy();
  process.send?.(sold, () => process.disconnect());
}

void main();
