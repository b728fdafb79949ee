"""Every workflow that a worker runs."""

from __future__ import annotations

from found_footy.workflows.aliases import AliasWorkflow
from found_footy.workflows.announce import AnnounceWorkflow, DeliveryWorkflow
from found_footy.workflows.canary import CanaryWorkflow
from found_footy.workflows.download import DownloadWorkflow
from found_footy.workflows.feed import FeedWorkflow
from found_footy.workflows.ingest import IngestWorkflow
from found_footy.workflows.library import LibraryWorkflow
from found_footy.workflows.library_edit import EditWorkflow
from found_footy.workflows.library_stage import StageWorkflow
from found_footy.workflows.monitor import MonitorWorkflow
from found_footy.workflows.search import SearchWorkflow
from found_footy.workflows.upload import UploadWorkflow
from found_footy.workflows.vision import VisionWorkflow

WORKFLOWS = (
    AliasWorkflow,
    AnnounceWorkflow,
    CanaryWorkflow,
    DeliveryWorkflow,
    DownloadWorkflow,
    EditWorkflow,
    FeedWorkflow,
    IngestWorkflow,
    LibraryWorkflow,
    MonitorWorkflow,
    SearchWorkflow,
    StageWorkflow,
    UploadWorkflow,
    VisionWorkflow,
)
