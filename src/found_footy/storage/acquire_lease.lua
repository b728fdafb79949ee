-- Acquire a permit of a semaphore, or return how long to wait. Uses the server's clock, which all processes share.
-- KEYS: leases (token -> expiry), bucket (when the token bucket is full), queue (token -> enqueued_at),
--       seen (token -> expiry of the waiter), since (strict only: when the data was created)
-- ARGV: token, enqueued_at (0 on the first call), limit, interval, burst, lease, waiter timeout, strict (1 or 0);
--       all times in microseconds
-- Returns {1, now} if the permit is granted, otherwise {0, enqueued_at, wait}.
local leases, bucket, queue, seen, since = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local token, enqueued_at, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local interval, burst = tonumber(ARGV[4]), math.max(1, tonumber(ARGV[5]))
local lease, waiter_timeout, strict = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8] == '1'

-- Lua formats large numbers with an exponent, which loses their last digits.
local function text(number)
  return string.format('%.0f', number)
end

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])

-- The key expires once the bucket is full, which equals no bucket.
local function save_bucket(full_at)
  redis.call('SET', bucket, text(full_at), 'PX', text(math.ceil((full_at - now) / 1000) + 1000))
end

-- Drop expired leases and waiters. After a clock has been set back, cap leases at their normal length.
redis.call('ZREMRANGEBYSCORE', leases, '-inf', text(now))
for _, other in ipairs(redis.call('ZRANGEBYSCORE', leases, '(' .. text(now + lease), '+inf')) do
  redis.call('ZADD', leases, text(now + lease), other)
end
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', seen, '-inf', text(now))) do
  redis.call('ZREM', seen, gone)
  redis.call('ZREM', queue, gone)
end

-- The permit was already granted, but the reply was lost.
if redis.call('ZSCORE', leases, token) then
  return {1, text(now)}
end

if enqueued_at == 0 then
  enqueued_at = now
end
redis.call('ZADD', queue, text(enqueued_at), token)
redis.call('ZADD', seen, text(now + waiter_timeout), token)
local ahead = redis.call('ZRANK', queue, token)
local free = limit - redis.call('ZCARD', leases)

-- Redis may have lost leases of running holders: wait until they are renewed or expired.
local wait = 0
if strict then
  local began = tonumber(redis.call('GET', since))
  if not began or began > now then
    began = now
    redis.call('SET', since, text(now))
  end
  wait = math.max(0, began + lease - now)
end

-- Same rule as `take_token` in limits.py, with one token reserved for each waiter ahead.
local full_at = now
if interval > 0 then
  local capacity = burst * interval
  local stored = tonumber(redis.call('GET', bucket)) or now
  full_at = math.min(math.max(stored, now), now + capacity)
  if stored > full_at then
    save_bucket(full_at)
  end
  wait = math.max(wait, full_at + (ahead + 1) * interval - (now + capacity))
end

if ahead < free and wait <= 0 then
  redis.call('ZREM', queue, token)
  redis.call('ZREM', seen, token)
  redis.call('ZADD', leases, text(now + lease), token)
  redis.call('PEXPIRE', leases, text(math.ceil(lease / 1000) + 1000))
  if interval > 0 then
    save_bucket(full_at + interval)
  end
  return {1, text(now)}
end

redis.call('PEXPIRE', queue, text(math.ceil(waiter_timeout / 1000) + 1000))
redis.call('PEXPIRE', seen, text(math.ceil(waiter_timeout / 1000) + 1000))
return {0, text(enqueued_at), text(math.max(0, wait))}
