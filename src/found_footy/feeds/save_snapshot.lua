-- Numbers snapshots and stores them. One with the checksum of the last one keeps that one's number and history entry.
-- KEYS: for each snapshot: latest, history, sequence
-- ARGV: for each snapshot: time of the answer in microseconds, checksum, TTL of latest in milliseconds, milliseconds for
--       which it is fresh, TTL of history, length of history, TTL of sequence, the snapshot; its number is put in front
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local function save(latest, history, sequence, at, checksum, ttl, fresh, history_ttl, length, sequence_ttl, snapshot)
  local last = redis.call('HMGET', sequence, 'number', 'checksum', 'at', 'stored')
  local number = tonumber(last[1]) or 0

  -- An older answer does not overwrite a newer one while that is fresh. Later it does: a clock that ran ahead blocks
  -- nothing.
  if tonumber(at) < (tonumber(last[3]) or 0) and now - (tonumber(last[4]) or 0) < tonumber(fresh) then
    return
  end

  local same = number > 0 and last[2] == checksum
  if not same then
    number = number + 1
  end
  local value = string.format('%.0f', number) .. '\n' .. snapshot

  redis.call('SET', latest, value, 'PX', ttl)
  if not same or redis.call('EXISTS', history) == 0 then
    redis.call('LPUSH', history, value)
    redis.call('LTRIM', history, 0, tonumber(length) - 1)
  end
  redis.call('PEXPIRE', history, history_ttl)
  redis.call('HSET', sequence, 'number', string.format('%.0f', number), 'checksum', checksum, 'at', at,
    'stored', string.format('%.0f', now))
  redis.call('PEXPIRE', sequence, sequence_ttl)
end

for i = 0, #KEYS / 3 - 1 do
  save(KEYS[3 * i + 1], KEYS[3 * i + 2], KEYS[3 * i + 3], unpack(ARGV, 8 * i + 1, 8 * i + 8))
end
