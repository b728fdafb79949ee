"""The settings of the clip library."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings

from found_footy.config_types import HttpUrl, Names


class LibrarySettings(BaseSettings):
    library_seconds: float = Field(5, gt=0, le=600, description="How often the library looks for work.")
    library_at_once: int = Field(
        2, ge=1, le=64, description="How many pieces of the library's work a worker does at once."
    )
    library_queue_most: int = Field(
        100, ge=1, le=10_000, description="How many pieces of work of one stage are handed to Temporal at a time."
    )
    undo_seconds: float = Field(60, gt=0, le=3600, description="How long an action of review can be undone.")
    claim_seconds: float = Field(
        120, gt=0, le=3600, description="How long a clip stays with a reviewer who gives no sign of life."
    )
    source_mb: int = Field(20_000, ge=1, le=500_000, description="Largest source that is taken, in megabytes.")
    source_hours: float = Field(6, gt=0, le=48, description="Longest source that is taken.")
    source_media_seconds: float = Field(
        18_000, gt=0, le=86_400, description="How long one pass over a source, or over a clip of it, may take."
    )
    scene_seconds_least: float = Field(0.6, ge=0, le=60, description="Shortest scene; sooner cuts are left out.")
    keyframes: Names = Field(
        ("25%", "50%", "75%", "sharpest"),
        description="Which keyframes are taken: shares of the clip, `sharpest`, `informative`.",
    )
    embedding_models: Names = Field(
        ("mobilenet_v3_small",),
        description="Models that embed clips: mobilenet_v3_small, clip_file, server. Searches use the first.",
    )
    embedding_file: Path | None = Field(
        None, description="ONNX file of the picture side of a CLIP or SigLIP model, for clip_file."
    )
    embedding_text_file: Path | None = Field(None, description="ONNX file of its text side.")
    embedding_tokenizer_file: Path | None = Field(None, description="Its `tokenizer.json`.")
    embedding_url: HttpUrl | None = Field(
        None, description="A server that embeds, for server: the address before `/embeddings`."
    )
    embedding_server_model: str = Field("default", min_length=1, description="The model's name at that server.")
    embedding_server_dimensions: int = Field(512, ge=1, le=2000, description="Numbers in a vector of that model.")
