-- Replaces the matches of the index: others are removed, and a new one starts at the given time.
-- KEYS: freshness_index, poll_intervals
-- ARGV: id, expected since, seconds between its polls or an empty string, id, …
local expected = {}
redis.call('DEL', KEYS[2])
for i = 1, #ARGV, 3 do
  expected[ARGV[i]] = ARGV[i + 1]
  if ARGV[i + 2] ~= '' then
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 2])
  end
end
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if expected[id] then
    expected[id] = nil
  else
    redis.call('ZREM', KEYS[1], id)
  end
end
for id, since in pairs(expected) do
  redis.call('ZADD', KEYS[1], since, id)
end
