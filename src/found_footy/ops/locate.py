"""Finding the engines that run already."""

from __future__ import annotations

from pydantic import SecretStr

from found_footy.config import Settings
from found_footy.domain.errors import EngineError
from found_footy.ops.data_folder import DataFolder


def with_running_engines(settings: Settings) -> Settings:
    """Fills in the addresses of the embedded engines that `footy up` runs on the same data folder."""
    if settings.database_url and settings.temporal_address and settings.redis_url:
        return settings
    runtime = DataFolder(settings.data_dir).read_runtime()
    if runtime is None:
        raise EngineError(
            f"no engines run on the data folder {settings.data_dir}; start `footy up`,"
            " or set DATABASE_URL, TEMPORAL_ADDRESS and REDIS_URL"
        )
    found: dict[str, object] = {}
    if not settings.database_url and runtime.database_url:
        found["database_url"] = SecretStr(runtime.database_url)
    if not settings.temporal_address and runtime.temporal_address:
        found["temporal_address"] = runtime.temporal_address
    if not settings.redis_url and runtime.redis_url:
        found["redis_url"] = SecretStr(runtime.redis_url)
    return settings.model_copy(update=found)
