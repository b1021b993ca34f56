import assert from 'node:assert/strict';
import { webhook } from 'cronlatch/notify';

export async function use() {
  const notify = webhook({ url: 'https://example.com/notices', secret: 'x'.repeat(32) });
  assert.equal(await Promise.resolve(typeof notify), 'function');
}
