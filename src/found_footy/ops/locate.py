"""Finding the engines that run already."""

from __future__ import annotations

from pydantic import SecretStr

from found_footy.config import Settings
from found_footy.domain.errors import EngineError
from found_footy.ops.engines.data_folder import DataFolder


def with_running_engines(settings: Settings) -> Settings:
    """Fills in the addresses of the embedded engines that `footy up` runs on the same data folder."""
    if settings.database_url and settings.temporal_address:
        return settings
    runtime = DataFolder(settings.data_dir).read_runtime()
    if runtime is None:
        raise EngineError(
            f"no engines run on the data folder {settings.data_dir}; start `footy up`,"
            " or set DATABASE_URL and TEMPORAL_ADDRESS"
        )
    found: dict[str, object] = {}
    if not settings.database_url and runtime.database_url:
        found["database_url"] = SecretStr(runtime.database_url)
    if not settings.temporal_address and runtime.temporal_address:
        found["temporal_address"] = runtime.temporal_address
    return settings.model_copy(update=found)
