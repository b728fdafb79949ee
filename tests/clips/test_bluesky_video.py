"""Bluesky's videos: the original from the author's PDS, by the DID document, and the CDN's playlist otherwise.

Forms: docs.bsky.app "PDS Entryway"; plc.directory answers DID documents whose service `#atproto_pds` names the PDS;
getBlob at bsky.social fails for accounts elsewhere [mikf/gallery-dl#6406, Lexedia/VixBluesky#32];
`embed.playlist` is https://video.bsky.app/watch/<did>/<cid>/playlist.m3u8 [danbooru/danbooru#5814].
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from found_footy.clips.bluesky_videos import document_url, is_did, pds_endpoint
from found_footy.clips.download_http import DownloadLimits
from found_footy.clips.downloader import open_downloader
from found_footy.clips.models import RejectionReason
from found_footy.errors import CandidateRejected, DownloadUnavailable
from tests.clips.conftest import Serve, saved
from tests.clips.hostile_server import VIDEO, HostileServer, Reply

PLC_DID = "did:plc:" + "a" * 24
WEB_DID = "did:web:didweb.example.org"
CID = "bafkrei" + "b" * 52
SMALL = VIDEO[:3000]
BLOB = "/hosts/pds.example.net/xrpc/com.atproto.sync.getBlob"


def watch(did: str) -> str:
    return f"/hosts/video.bsky.app/watch/{did.replace(':', '%3A')}/{CID}/playlist.m3u8"


def document(did: str, endpoint: Any, service: str = "#atproto_pds") -> dict[str, Any]:
    entry = {"id": service, "type": "AtprotoPersonalDataServer", "serviceEndpoint": endpoint}
    return {"id": did, "alsoKnownAs": ["at://goals.example"], "service": [{"id": "#other"}, entry]}


def api(body: Any, status: int = 200) -> Reply:
    return Reply(json.dumps(body).encode(), status, "application/json")


def playlist(url: str) -> Reply:
    text = f"#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4.0,\n{url}/small.mp4\n#EXT-X-ENDLIST\n"
    return Reply(text.encode(), kind="application/vnd.apple.mpegurl")


class Bluesky:
    def __init__(self, server: HostileServer, target: Path) -> None:
        self.server = server
        self._target = target

    def set(self, answers: dict[str, Reply]) -> None:
        self.server.answers = {
            f"/plc/{PLC_DID}": api(document(PLC_DID, f"{self.server.url}/hosts/pds.example.net/")),
            watch(PLC_DID): playlist(self.server.url),
            "/small.mp4": Reply(SMALL),
            **answers,
        }

    async def fetch(self, did: str = PLC_DID, times: int = 1) -> bytes:
        limits = DownloadLimits(100_000, 60, 3, [self.server.host])
        plc = f"{self.server.url}/plc"
        downloader = open_downloader(
            limits,
            x_syndication_url="https://x.invalid",
            fxtwitter_url="https://fx.invalid",
            x_url="https://x.com",
            drop_folder=None,
            plc_url=plc,
        )
        try:
            for _ in range(times):
                await downloader.fetch(f"{self.server.url}{watch(did)}", self._target)
        finally:
            await downloader.aclose()
        return saved(self._target)

    @property
    def asked(self) -> list[str]:
        return [request.path for request in self.server.requests]


@pytest.fixture
async def bluesky(serve: Serve, target: Path) -> Bluesky:
    return Bluesky(await serve({}), target)


async def test_the_original_comes_from_the_authors_pds(bluesky: Bluesky) -> None:
    bluesky.set({BLOB: Reply(VIDEO)})
    assert await bluesky.fetch(times=2) == VIDEO
    assert bluesky.asked == [f"/plc/{PLC_DID}", BLOB, BLOB], "a document is looked up once"
    assert bluesky.server.requests[1].target.endswith(f"?did={PLC_DID.replace(':', '%3A')}&cid={CID}")


async def test_a_did_of_the_web_is_looked_up_at_its_host(bluesky: Bluesky) -> None:
    well_known = "/hosts/didweb.example.org/.well-known/did.json"
    pds = f"{bluesky.server.url}/hosts/pds.example.net"
    bluesky.set({well_known: api(document(WEB_DID, pds)), BLOB: Reply(VIDEO)})
    assert await bluesky.fetch(WEB_DID) == VIDEO


@pytest.mark.parametrize(
    ("path", "reply"),
    [
        (BLOB, api({"error": "BlobNotFound"}, 400)),
        (BLOB, Reply(status=500)),
        (BLOB, Reply(VIDEO * 20)),
        (f"/plc/{PLC_DID}", Reply(status=503)),
        (f"/plc/{PLC_DID}", api({"message": "DID not registered"}, 404)),
        (f"/plc/{PLC_DID}", api(document("did:plc:" + "b" * 24, "https://pds.example.net"))),
        (f"/plc/{PLC_DID}", api(document(PLC_DID, "http://169.254.169.254"))),
        (f"/plc/{PLC_DID}", api(document(PLC_DID, "http://127.0.0.1:9"))),
        (f"/plc/{PLC_DID}", Reply(b"[" * 100_000)),
    ],
)
async def test_the_playlist_is_the_fallback_for_the_pds(bluesky: Bluesky, path: str, reply: Reply) -> None:
    bluesky.set({path: reply})
    assert await bluesky.fetch() == SMALL


async def test_a_video_that_is_nowhere_is_gone(bluesky: Bluesky) -> None:
    bluesky.set({BLOB: api({"error": "BlobNotFound"}, 400), watch(PLC_DID): Reply(status=404)})
    with pytest.raises(CandidateRejected) as raised:
        await bluesky.fetch()
    assert raised.value.reason == RejectionReason.GONE


async def test_a_cdn_that_fails_may_be_better_later(bluesky: Bluesky) -> None:
    bluesky.set({BLOB: Reply(status=404), watch(PLC_DID): Reply(status=503)})
    with pytest.raises(DownloadUnavailable):
        await bluesky.fetch()


@pytest.mark.parametrize(
    ("endpoint", "found"),
    [
        ("https://pds.example.net", "https://pds.example.net"),
        ("https://pds.example.net/", "https://pds.example.net"),
        ("https://user@pds.example.net", None),
        ("ftp://pds.example.net", None),
        ("https://pds.example.net/?x=1", None),
        ("https://" + "a" * 400, None),
        ("", None),
        (7, None),
    ],
)
def test_the_pds_of_a_document(endpoint: Any, found: str | None) -> None:
    assert pds_endpoint(document(PLC_DID, endpoint), PLC_DID) == found


@pytest.mark.parametrize(
    "broken", [None, [], "x", {}, {"id": PLC_DID, "service": "x"}, {"id": PLC_DID, "service": [1]}]
)
def test_a_document_of_another_form_names_no_pds(broken: Any) -> None:
    assert pds_endpoint(broken, PLC_DID) is None


def test_where_documents_are() -> None:
    assert document_url(PLC_DID, "https://plc.directory/") == f"https://plc.directory/{PLC_DID}"
    assert document_url(WEB_DID, "https://plc.directory") == "https://didweb.example.org/.well-known/did.json"
    assert is_did(PLC_DID)
    assert is_did(WEB_DID)
    assert not is_did("did:plc:short")
