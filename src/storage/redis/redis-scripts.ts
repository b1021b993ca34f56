import { createHash } from 'node:crypto';
import { RELEASED_MARK } from '../../core/lease/owner';

/** A script of one statement. Redis runs it without interruption. */
export interface RedisScript {
  readonly text: string;
  readonly sha1: string;
}

/** How long a released record is kept. Meanwhile the next token is higher even if the server's clock was set back. */
const KEPT_MS = 60_000;

/**
 * Reads the record: `<owner> <token> <locked at> <free at>`, times in microseconds. Redis expires the key of a held lock
 * when its lease ends, so `free at` is 0 until the release. Any other value counts as the owner of a held lock.
 *
 * Each script writes at most once, by one SET with its expiry, so that none can fail halfway. Each recognizes what it
 * wrote itself, because clients send a command again when they lose their connection.
 */
const HEAD = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function whole(number) return string.format('%.0f', number) end
local function answer(...) return { whole(now), ... } end
if now > tonumber(ARGV[1]) then return answer('late') end

local key = KEYS[1]
local value = redis.call('GET', key)
local owner, token, lockedAt, freeAt
if value then
  owner, token, lockedAt, freeAt = string.match(value, '^(.*) (%d+) (%d+) (%d+)$')
  owner = owner or value
end
token, lockedAt, freeAt = tonumber(token or 0), tonumber(lockedAt or 0), tonumber(freeAt or 0)
local held = value and (freeAt == 0 or freeAt > now)

local function write(nextOwner, nextToken, at, free, us)
  local record = table.concat({ nextOwner, whole(nextToken), whole(at), whole(free) }, ' ')
  redis.call('SET', key, record, 'PX', whole(math.max(1, math.ceil(us / 1000))))
end
`;

/**
 * ARGV: owner, length of the lease in µs. A key that another program wrote without an end would never be free. If it
 * was already granted, the lease begins again, because the caller counts from its last request.
 */
export const ACQUIRE = script(`
if held and owner == value and redis.call('PTTL', key) < 0 then return answer('endless') end
if held and owner ~= ARGV[2] then return answer('refused') end
if not held then token, lockedAt = math.max(token + 1, now), now end
write(ARGV[2], token, lockedAt, 0, tonumber(ARGV[3]))
return answer('done', whole(token))
`);

/** ARGV: owner, next owner, length of the lease and lockAtLeastFor in µs. */
export const EXTEND = script(`
if held and owner == ARGV[3] then return answer('done') end
if not held or owner ~= ARGV[2] then return answer('refused') end
write(ARGV[3], token, lockedAt, 0, math.max(tonumber(ARGV[4]), ARGV[5] == '0' and 0 or lockedAt + tonumber(ARGV[5]) - now))
return answer('done')
`);

/**
 * ARGV: owner, lockAtLeastFor in µs, channel. A released record holds the time limit of its statement instead of `locked
 * at`, so that the statement recognizes it. A lost message costs a waiter one interval of its polling.
 */
export const UNLOCK = script(`
local released = ARGV[2] .. '${RELEASED_MARK}'
if value and owner == released and lockedAt == tonumber(ARGV[1]) then return answer('done') end
if not held or owner ~= ARGV[2] then return answer('refused') end
local free = ARGV[3] == '0' and now or math.max(now, lockedAt + tonumber(ARGV[3]))
write(released, token, tonumber(ARGV[1]), free, free - now + ${KEPT_MS * 1000})
redis.pcall('PUBLISH', ARGV[4], whole(math.ceil((free - now) / 1000)))
return answer('done')
`);

/** ARGV: '1' to write the record again, so that replicas which confirm this write have all before it. */
export const FIND = script(`
if not value then return answer('missing') end
local left = redis.call('PTTL', key)
if ARGV[2] == '1' and left > 0 then redis.call('SET', key, value, 'PX', left) end
local ends = freeAt > 0 and whole(freeAt) or left >= 0 and whole(now + math.max(left, 1) * 1000) or ''
return answer('done', owner, held and '1' or '0', ends, whole(token))
`);

function script(body: string): RedisScript {
  const text = `${HEAD.trim()}\n\n${body.trim()}\n`;
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}
