-- The index holds these matches and no others; who is new counts from when it has been waited for.
-- KEYS: freshness_index    ARGV: id, since when in seconds, id, …
local wanted = {}
for i = 1, #ARGV, 2 do
  wanted[ARGV[i]] = ARGV[i + 1]
end
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if wanted[id] then
    wanted[id] = nil
  else
    redis.call('ZREM', KEYS[1], id)
  end
end
for id, since in pairs(wanted) do
  redis.call('ZADD', KEYS[1], since, id)
end
