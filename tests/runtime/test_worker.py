"""Settings of the worker process."""

from __future__ import annotations

import gc

from found_footy.runtime.worker import GC_THRESHOLDS, tune_garbage_collection


def test_a_worker_collects_garbage_rarely_and_never_scans_what_it_loaded_at_startup() -> None:
    thresholds = gc.get_threshold()
    try:
        tune_garbage_collection()
        assert gc.get_threshold() == GC_THRESHOLDS
        assert gc.get_freeze_count() > 10_000
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
