"""Opens the configured object store."""

from __future__ import annotations

from pathlib import Path

from found_footy.config import Settings
from found_footy.storage.objects.store import ThreadedObjectStore, open_object_store
from found_footy.storage.volumes import MEGABYTE


def objects_folder(settings: Settings) -> Path:
    """Folder of the object store if FOOTY_OBJECT_STORE_URL is not set."""
    return settings.data_dir.absolute() / "objects"


def build_objects(settings: Settings) -> ThreadedObjectStore:
    return open_files(settings, settings.object_store_url or objects_folder(settings).as_uri())


def open_files(settings: Settings, url: str) -> ThreadedObjectStore:
    """Open a folder or bucket by URL, with the keys from the settings."""
    access, secret = settings.s3_access_key, settings.s3_secret_key
    return open_object_store(
        url,
        endpoint=settings.s3_endpoint,
        region=settings.s3_region,
        access_key=access.get_secret_value() if access else None,
        secret_key=secret.get_secret_value() if secret else None,
        free_space=settings.free_space_mb * MEGABYTE,
    )
