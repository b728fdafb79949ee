"""Files by key, in a folder or on an S3 server, through one small class."""

from found_footy.adapters.storage.objects.opening import open_object_store
from found_footy.adapters.storage.objects.store import ThreadedObjectStore

__all__ = ["ThreadedObjectStore", "open_object_store"]
