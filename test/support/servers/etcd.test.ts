import assert from 'node:assert/strict';
import { closing } from '../benches/closing';
import { ownServer } from './own';
import { testOnOwn } from './test-on';

testOnOwn('etcd', 'an etcd of its own is empty, and keeps its keys when it is killed', async () => {
  await using server = closing(await ownServer('etcd'));
  const everything = { key: base64('\0'), range_end: base64('\0') };
  assert.match(server.version, /^3\.\d+\.\d+/);
  assert.equal((await ask(server.url, 'range', everything)).kvs, undefined);
  await ask(server.url, 'put', { key: base64('key'), value: base64('value') });
  await server.kill();
  await server.restart();
  const { kvs = [] } = await ask(server.url, 'range', everything);
  assert.deepEqual(
    kvs.map(({ value }) => Buffer.from(value, 'base64').toString()),
    ['value'],
  );
});

async function ask(
  url: string,
  command: string,
  body: object,
): Promise<{ readonly kvs?: readonly { readonly value: string }[] }> {
  const answer = await fetch(new URL(`/v3/kv/${command}`, url), {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  assert.equal(answer.status, 200);
  return (await answer.json()) as { kvs?: { value: string }[] };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
