import { setTimeout } from 'node:timers/promises';
import type { JobGuard } from 'cronlatch';
import type { DataSource } from 'typeorm';

const SALE = { name: 'flash-sale', lockAtMostFor: '1m' } as const;

/** Its stock is read, changed and written back, so it is right only if one process at a time does that. */
export class Shop {
  constructor(private readonly dataSource: DataSource) {}

  async open(items: number): Promise<void> {
    await this.dataSource.query('CREATE TABLE IF NOT EXISTS flash_sale (items_left INTEGER NOT NULL)');
    await this.dataSource.query('DELETE FROM flash_sale');
    await this.dataSource.query(`INSERT INTO flash_sale VALUES (${items})`);
  }

  async itemsLeft(): Promise<number> {
    const [row] = await this.dataSource.query<{ items_left: number }[]>('SELECT items_left FROM flash_sale');
    return Number(row?.items_left);
  }

  /** @returns whether the buyer got an item */
  async sellOne(): Promise<boolean> {
    const items = await this.itemsLeft();
    if (items <= 0) return false;
    await this.dataSource.query(`UPDATE flash_sale SET items_left = ${items - 1}`);
    return true;
  }
}

/** @returns how many buyers got an item */
export async function sellUntilSoldOut(guard: JobGuard, shop: Shop): Promise<number> {
  for (let sold = 0; ;) {
    const sale = await guard.run(SALE, () => shop.sellOne());
    if (!sale.executed)
      await setTimeout(30 * Math.random()); // Another process is selling.
    else if (sale.value) sold += 1;
    else return sold;
  }
}
