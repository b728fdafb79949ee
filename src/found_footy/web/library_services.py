"""What the routes about the clip library are given."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from found_footy.domain.clips.submitting import Refusal
from found_footy.ports_library import LibraryStore, ReviewStore
from found_footy.web.library.ports import LibraryReading
from found_footy.web.review.ports import ReviewReading
from found_footy.web.search.finding import SearchServices


@dataclass(frozen=True, slots=True)
class LibraryServices:
    store: LibraryStore
    review: ReviewStore
    looking: ReviewReading
    """What the review page shows beside the clips themselves."""
    reading: LibraryReading
    address_refusal: Refusal
    undo_for: timedelta = timedelta(seconds=60)
    claim_for: timedelta = timedelta(seconds=120)
    search: SearchServices | None = None
