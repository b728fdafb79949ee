-- Numbers a snapshot and keeps it. One that says what the last one said renews that one's time, and no more.
-- KEYS: latest, known, history, sequence
-- ARGV: moment in microseconds, checksum, milliseconds of latest, of known, of history, length of history,
--       the snapshot in JSON from its second field on: the first is its number
local moment, checksum = tonumber(ARGV[1]), ARGV[2]
local last = redis.call('HMGET', KEYS[4], 'number', 'checksum', 'moment')
local number = tonumber(last[1]) or 0

-- An answer that was overtaken by a later one. Only while that one is fresh: a clock that is ahead blocks nobody.
if redis.call('EXISTS', KEYS[1]) == 1 and moment < (tonumber(last[3]) or 0) then
  return 0
end

local same = number > 0 and last[2] == checksum
if not same then
  number = number + 1
end
local text = '{"sequence_number":' .. string.format('%.0f', number) .. ',' .. ARGV[7]

redis.call('SET', KEYS[1], text, 'PX', ARGV[3])
redis.call('SET', KEYS[2], text, 'PX', ARGV[4])
if not same or redis.call('EXISTS', KEYS[3]) == 0 then
  redis.call('LPUSH', KEYS[3], text)
  redis.call('LTRIM', KEYS[3], 0, tonumber(ARGV[6]) - 1)
end
redis.call('PEXPIRE', KEYS[3], ARGV[5])
redis.call('HSET', KEYS[4], 'number', string.format('%.0f', number), 'checksum', checksum, 'moment', ARGV[1])
redis.call('PEXPIRE', KEYS[4], ARGV[4])
return number
