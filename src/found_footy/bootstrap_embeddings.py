"""The models that embed clips as the settings name them, and the search that is built on them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from found_footy.adapters.storage.postgres.database import Database
from found_footy.config import Settings
from found_footy.domain.errors import SettingsError
from found_footy.library_search import LibrarySearch
from found_footy.ports_library import Embedder
from found_footy.web.search.finding import SearchServices

MODELS = ("mobilenet_v3_small", "clip_file", "server")


def build_embedders(settings: Settings) -> list[Embedder]:
    """The first one is the one that searches use. Nothing is loaded yet but what tells a wrong setting from a right
    one. Raises SettingsError."""
    names = settings.embedding_models
    if len(set(names)) < len(names):
        raise SettingsError("FOOTY_EMBEDDING_MODELS names a model twice")
    return [_embedder(name, settings) for name in names]


@asynccontextmanager
async def open_search(settings: Settings, database: Database) -> AsyncIterator[SearchServices]:
    """For pages, API and command. Raises SettingsError."""
    from found_footy.adapters.media.stills import LimitedStills
    from found_footy.adapters.storage.postgres.library_search import PostgresLibrarySearch

    async with AsyncExitStack() as stack:
        embedders = build_embedders(settings)
        for each in embedders:
            stack.push_async_callback(each.aclose)
        stills = LimitedStills(settings.media_memory_mb)
        stack.push_async_callback(stills.aclose)
        yield SearchServices(LibrarySearch(PostgresLibrarySearch(database), embedders), stills)


def _embedder(name: str, settings: Settings) -> Embedder:
    # Each loads its libraries only where it is wanted.
    match name:
        case "mobilenet_v3_small":
            from found_footy.adapters.embeddings.mobilenet import MobileNet

            return MobileNet()
        case "clip_file":
            from found_footy.adapters.embeddings.onnx_clip import OnnxClip

            if settings.embedding_file is None:
                raise SettingsError("FOOTY_EMBEDDING_MODELS names clip_file, and FOOTY_EMBEDDING_FILE is not set")
            model = OnnxClip(settings.embedding_file, settings.embedding_text_file, settings.embedding_tokenizer_file)
            model.check()
            return model
        case "server":
            from found_footy.adapters.embeddings.server import EmbeddingServer

            if settings.embedding_url is None:
                raise SettingsError("FOOTY_EMBEDDING_MODELS names server, and FOOTY_EMBEDDING_URL is not set")
            return EmbeddingServer(
                settings.embedding_url, settings.embedding_server_model, settings.embedding_server_dimensions
            )
    raise SettingsError(f"FOOTY_EMBEDDING_MODELS: given {name[:60]!r}; allowed are {', '.join(MODELS)}")
