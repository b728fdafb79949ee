-- Add an entry to the audit log, or replace the one with the same id in place.
-- KEYS: audit_log    ARGV: entry as JSON, its id, maximum number of entries
for place, text in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local readable, entry = pcall(cjson.decode, text)
  if readable and type(entry) == 'table' and entry.entry_id == ARGV[2] then
    redis.call('LSET', KEYS[1], place - 1, ARGV[1])
    return
  end
end
redis.call('LPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], 0, tonumber(ARGV[3]) - 1)
