"""The embedding models that the settings enable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from found_footy.config import Settings
from found_footy.errors import SettingsError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    @property
    def name(self) -> str:
        """Name used in database columns: `mobilenet_v3_small`."""

    @property
    def version(self) -> str:
        """Clips with vectors of another version are embedded again."""

    @property
    def dimensions(self) -> int: ...

    @property
    def supports_text(self) -> bool: ...

    async def embed_images(self, bgr: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        """One normalized row per image. Raises EmbeddingError."""

    async def embed_text(self, words: str) -> NDArray[np.float32]:
        """One normalized vector. Raises EmbeddingError if the model does not support text."""

    async def aclose(self) -> None: ...


MODELS = ("mobilenet_v3_small", "clip_file", "server")


def build_embedders(settings: Settings) -> list[Embedder]:
    """Build the enabled embedders. The first one computes similarity in searches. Models are loaded on first use.
    Raises SettingsError.
    """
    names = settings.embedding_models
    if len(set(names)) < len(names):
        raise SettingsError("FOOTY_EMBEDDING_MODELS contains a model twice")
    return [_embedder(name, settings) for name in names]


def _embedder(name: str, settings: Settings) -> Embedder:
    # Imported only when enabled: these libraries are large.
    match name:
        case "mobilenet_v3_small":
            from found_footy.library.onnx_embedders import MobileNetEmbedder

            return MobileNetEmbedder()
        case "clip_file":
            from found_footy.library.onnx_embedders import ClipEmbedder

            if settings.embedding_file is None:
                raise SettingsError("FOOTY_EMBEDDING_MODELS contains clip_file, but FOOTY_EMBEDDING_FILE is not set")
            model = ClipEmbedder(
                settings.embedding_file, settings.embedding_text_file, settings.embedding_tokenizer_file
            )
            model.check()
            return model
        case "server":
            from found_footy.library.embedding_server import ServerEmbedder

            if settings.embedding_url is None:
                raise SettingsError("FOOTY_EMBEDDING_MODELS contains server, but FOOTY_EMBEDDING_URL is not set")
            return ServerEmbedder(
                settings.embedding_url, settings.embedding_server_model, settings.embedding_server_dimensions
            )
    raise SettingsError(
        f"unknown embedding model {name[:60]!r} in FOOTY_EMBEDDING_MODELS: choose from {', '.join(MODELS)}"
    )
