-- Hold a key for a while. Returns 0 if it was free, otherwise the milliseconds until it expires.
-- KEYS: key    ARGV: milliseconds
local left = redis.call('PTTL', KEYS[1])
if left > 0 then
  return left
end
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
return 0
