-- The index holds these matches and no others; who is new counts from now on.
-- KEYS: freshness_index    ARGV: now in seconds, ids
local wanted = {}
for i = 2, #ARGV do
  wanted[ARGV[i]] = true
end
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if wanted[id] then
    wanted[id] = nil
  else
    redis.call('ZREM', KEYS[1], id)
  end
end
for id in pairs(wanted) do
  redis.call('ZADD', KEYS[1], ARGV[1], id)
end
