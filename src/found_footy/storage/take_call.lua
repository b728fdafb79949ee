-- Count one call against a budget in a sliding window, by the server's clock.
-- KEYS: calls (token -> time of the call)
-- ARGV: token, maximum calls, window in microseconds
-- Returns {1, "0"} if the call is granted, otherwise {0, microseconds until the next call is}.
local calls, token, limit, window = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local function text(number)
  return string.format('%.0f', number)
end

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])

redis.call('ZREMRANGEBYSCORE', calls, '-inf', text(now - window))
-- A clock that was set back must not block calls for longer than a window.
redis.call('ZREMRANGEBYSCORE', calls, '(' .. text(now), '+inf')

if redis.call('ZSCORE', calls, token) then
  return {1, '0'}
end
if redis.call('ZCARD', calls) >= limit then
  local oldest = redis.call('ZRANGE', calls, 0, 0, 'WITHSCORES')
  return {0, text(tonumber(oldest[2]) + window - now)}
end
redis.call('ZADD', calls, text(now), token)
redis.call('PEXPIRE', calls, text(math.ceil(window / 1000) + 1000))
return {1, '0'}
