-- Hold a key for at least a while from now; never shortens it. PEXPIRE ... GT would need Redis 7.
-- KEYS: key    ARGV: milliseconds
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
end
return 0
