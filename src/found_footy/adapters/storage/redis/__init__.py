"""What may be lost and is rebuilt by the next answers, behind the Redis protocol."""

from found_footy.adapters.storage.redis.cache import PREFIX, RedisCache
from found_footy.adapters.storage.redis.counters import RedisFeedCounters
from found_footy.adapters.storage.redis.freshness import RedisFreshness
from found_footy.adapters.storage.redis.health import RedisHealthCache
from found_footy.adapters.storage.redis.missing import RedisMissingMatches
from found_footy.adapters.storage.redis.records import RedisMonitorRecords
from found_footy.adapters.storage.redis.shared_cache import RedisSharedCache
from found_footy.adapters.storage.redis.snapshots import RedisSnapshots
from found_footy.adapters.storage.redis.switches import RedisSwitches
from found_footy.adapters.storage.redis.turns import RedisTurns

__all__ = [
    "PREFIX",
    "RedisCache",
    "RedisFeedCounters",
    "RedisFreshness",
    "RedisHealthCache",
    "RedisMissingMatches",
    "RedisMonitorRecords",
    "RedisSharedCache",
    "RedisSnapshots",
    "RedisSwitches",
    "RedisTurns",
]
