-- Numbers a snapshot and stores it. One with the checksum of the last one keeps that one's number and history entry.
-- KEYS: latest, history, sequence
-- ARGV: time of the answer in microseconds, checksum, TTL of latest in milliseconds, milliseconds for which it is fresh,
--       TTL of history, length of history, TTL of sequence, the snapshot; its number is put in front of it
local at, checksum = tonumber(ARGV[1]), ARGV[2]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local last = redis.call('HMGET', KEYS[3], 'number', 'checksum', 'at', 'stored')
local number = tonumber(last[1]) or 0

-- An older answer does not overwrite a newer one while that is fresh. Later it does: a clock that ran ahead blocks nothing.
if at < (tonumber(last[3]) or 0) and now - (tonumber(last[4]) or 0) < tonumber(ARGV[4]) then
  return 0
end

local same = number > 0 and last[2] == checksum
if not same then
  number = number + 1
end
local value = string.format('%.0f', number) .. '\n' .. ARGV[8]

redis.call('SET', KEYS[1], value, 'PX', ARGV[3])
if not same or redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('LPUSH', KEYS[2], value)
  redis.call('LTRIM', KEYS[2], 0, tonumber(ARGV[6]) - 1)
end
redis.call('PEXPIRE', KEYS[2], ARGV[5])
redis.call('HSET', KEYS[3], 'number', string.format('%.0f', number), 'checksum', checksum, 'at', ARGV[1],
  'stored', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[3], ARGV[7])
return number
