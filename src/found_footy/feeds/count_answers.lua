-- Counts answers of a feed: in total, and in time slots that expire.
-- KEYS: totals, recent, feed_names
-- ARGV: feed, slot length in seconds, number of slots, successes, failures, then further totals: field, amount, …
local totals, recent = KEYS[1], KEYS[2]
local seconds, slots, ok, failed = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5]
local slot = math.floor(tonumber(redis.call('TIME')[1]) / seconds)

redis.call('SADD', KEYS[3], ARGV[1])
redis.call('HINCRBY', totals, 'ok', ok)
redis.call('HINCRBY', totals, 'failed', failed)
for i = 6, #ARGV, 2 do
  redis.call('HINCRBYFLOAT', totals, ARGV[i], ARGV[i + 1])
end

redis.call('HINCRBY', recent, slot .. ':ok', ok)
redis.call('HINCRBY', recent, slot .. ':failed', failed)
for _, field in ipairs(redis.call('HKEYS', recent)) do
  local number = tonumber(string.match(field, '^%d+'))
  if not number or number <= slot - slots then
    redis.call('HDEL', recent, field)
  end
end
redis.call('EXPIRE', recent, seconds * slots)
