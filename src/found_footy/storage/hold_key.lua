-- Acquire a key. Returns 0 on success, otherwise the milliseconds until it expires.
-- KEYS: key    ARGV: milliseconds, extend (1: extend an existing key, never shorten it; 0: only if it is free)
local left = redis.call('PTTL', KEYS[1])
if left > 0 and (ARGV[2] == '0' or left >= tonumber(ARGV[1])) then
  return left
end
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
return 0
