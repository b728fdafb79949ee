"""What the pages and the API are given of the clip library."""

from __future__ import annotations

from datetime import timedelta

from found_footy.adapters.guarded.addresses import AddressRule
from found_footy.adapters.storage.postgres.library import PostgresLibrary
from found_footy.adapters.storage.postgres.library_reading import PostgresLibraryReading
from found_footy.adapters.storage.postgres.readers import Readers
from found_footy.adapters.storage.postgres.review import PostgresReview
from found_footy.adapters.storage.postgres.review_reading import PostgresReviewReading
from found_footy.adapters.storage.postgres.store import PostgresStore
from found_footy.config import Settings
from found_footy.web.library_services import LibraryServices


def build_web_library(settings: Settings, store: PostgresStore, readers: Readers) -> LibraryServices:
    undo_for = timedelta(seconds=settings.undo_seconds)
    return LibraryServices(
        store=PostgresLibrary(store.database),
        review=PostgresReview(store.database, undo_for),
        looking=PostgresReviewReading(store.database),
        reading=PostgresLibraryReading(readers),
        address_refusal=AddressRule(settings.private_hosts).refusal,
        undo_for=undo_for,
        claim_for=timedelta(seconds=settings.claim_seconds),
    )
