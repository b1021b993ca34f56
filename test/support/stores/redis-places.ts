import { randomUUID } from 'node:crypto';
import type { LockProviderFixture } from 'cronlatch/contracts';
import { RedisLockProvider, type RedisLockProviderOptions } from 'cronlatch/redis';
import { SettableClock } from 'cronlatch/testing';
import { parseDuration } from '#cronlatch/core/duration';
import { connectRedis, type ConnectedRedis, type RedisClientName } from '../servers/redis-clients';
import { urlOn } from '../servers/running';

/** Moves the ends of all leases, and the times in their records, back by ARGV[2] milliseconds. */
const SHIFT_BACK = `
local ms = tonumber(ARGV[2])
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  local left = redis.call('PTTL', key) - ms
  if left <= 1 then
    redis.call('DEL', key)
  else
    local value = redis.call('GET', key)
    local owner, token, lockedAt, freeAt = string.match(value, '^(.*) (%d+) (%d+) (%d+)$')
    if owner then
      local function earlier(us) return tonumber(us) == 0 and '0' or string.format('%.0f', us - ms * 1000) end
      value = table.concat({ owner, token, earlier(lockedAt), earlier(freeAt) }, ' ')
    end
    redis.call('SET', key, value, 'PX', string.format('%.0f', left))
  end
end`;

/** Connections to the Redis of the test run. Each fixture has a key prefix of its own. */
export class RedisPlaces {
  #connected: Promise<readonly [ConnectedRedis, ConnectedRedis]> | undefined;

  constructor(private readonly clientName: RedisClientName) {}

  async fixture(): Promise<LockProviderFixture<'ambientTransaction' | 'list' | 'staleReads'>> {
    const [application, otherApplication] = await (this.#connected ??= this.#connect());
    const keyPrefix = `contract-${randomUUID()}:`;
    const clock = new SettableClock();
    const options = { id: keyPrefix, keyPrefix, clock };
    const provider = providerOf(application, options);
    const other = providerOf(otherApplication, options);
    const shiftBack = (ms: number): Promise<unknown> =>
      application.send('EVAL', SHIFT_BACK, '0', `${keyPrefix}*`, String(ms));
    return {
      provider,
      other,
      async elapse(duration) {
        await shiftBack(parseDuration(duration, 'elapse'));
        clock.advance(duration);
      },
      async stall(duration) {
        clock.stall(duration);
        await shiftBack(parseDuration(duration, 'stall'));
      },
      async deleteRecord(name) {
        await application.send('DEL', keyPrefix + name);
      },
      async existingRecord({ name, lockedBy, endsInMs }) {
        const key = keyPrefix + name;
        await application.send('DEL', key);
        if (endsInMs > 0) await application.send('SET', key, lockedBy, 'PX', String(endsInMs));
      },
      async dispose() {
        await Promise.all([provider.close(), other.close()]);
        await shiftBack(parseDuration('365d', 'dispose'));
      },
    };
  }

  async dispose(): Promise<void> {
    for (const connected of (await this.#connected) ?? []) connected.close();
  }

  async #connect(): Promise<readonly [ConnectedRedis, ConnectedRedis]> {
    const url = urlOn('redis');
    return [await connectRedis(this.clientName, url), await connectRedis(this.clientName, url)];
  }
}

function providerOf(
  connected: ConnectedRedis,
  options: Omit<RedisLockProviderOptions, 'client'>,
): RedisLockProvider {
  return new RedisLockProvider({ ...options, client: connected.client, subscriber: connected.subscriber() });
}
