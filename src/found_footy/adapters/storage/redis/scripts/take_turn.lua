-- A turn at a feed, or how long to wait for one. The server's clock counts, so that all workers have the same.
-- KEYS: leases (token to when it ends), bucket, queue (token to when it came), seen (token to how long it is believed)
-- ARGV: token, when it came (0 at first), most at once, interval, burst, length of a lease, how long a waiter is
--       believed; all times in microseconds
-- Answers {1, now} with the turn, {0, when it came, wait} without.
local leases, bucket, queue, seen = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, came, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local interval, burst = tonumber(ARGV[4]), math.max(1, tonumber(ARGV[5]))
local lease, belief = tonumber(ARGV[6]), tonumber(ARGV[7])

-- The language would write large numbers with an exponent, and lose their last digits.
local function text(number)
  return string.format('%.0f', number)
end

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])

-- When it is full again, it is as if there had never been one.
local function keep_bucket(full_at)
  redis.call('SET', bucket, text(full_at), 'PX', text(math.ceil((full_at - now) / 1000) + 1000))
end

-- Who was killed gives its place back. A clock that went back makes no lease longer.
redis.call('ZREMRANGEBYSCORE', leases, '-inf', text(now))
for _, other in ipairs(redis.call('ZRANGEBYSCORE', leases, '(' .. text(now + lease), '+inf')) do
  redis.call('ZADD', leases, text(now + lease), other)
end
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', seen, '-inf', text(now))) do
  redis.call('ZREM', seen, gone)
  redis.call('ZREM', queue, gone)
end

-- It has the turn already, and the answer that said so was lost.
if redis.call('ZSCORE', leases, token) then
  return {1, text(now)}
end

if came == 0 then
  came = now
end
redis.call('ZADD', queue, text(came), token)
redis.call('ZADD', seen, text(now + belief), token)
local ahead = redis.call('ZRANK', queue, token)
local free = most - redis.call('ZCARD', leases)

-- The rule of `domain/feeds/token_bucket.py`, with one turn set aside for each who came before.
local full_at, wait = now, 0
if interval > 0 then
  local capacity = burst * interval
  local stored = tonumber(redis.call('GET', bucket)) or now
  full_at = math.min(math.max(stored, now), now + capacity)
  if stored > full_at then
    keep_bucket(full_at)
  end
  wait = full_at + (ahead + 1) * interval - (now + capacity)
end

if ahead < free and wait <= 0 then
  redis.call('ZREM', queue, token)
  redis.call('ZREM', seen, token)
  redis.call('ZADD', leases, text(now + lease), token)
  redis.call('PEXPIRE', leases, text(math.ceil(lease / 1000) + 1000))
  if interval > 0 then
    keep_bucket(full_at + interval)
  end
  return {1, text(now)}
end

redis.call('PEXPIRE', queue, text(math.ceil(belief / 1000) + 1000))
redis.call('PEXPIRE', seen, text(math.ceil(belief / 1000) + 1000))
return {0, text(came), text(math.max(0, wait))}
