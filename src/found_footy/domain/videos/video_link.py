"""Where a video's link leads, and under which name its file is saved."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from found_footy.domain.fixtures.model import Minute
from found_footy.domain.videos.keys import clip_key
from found_footy.domain.videos.readings import Proof

LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class VideoLink:
    """The clip that stays, after all merges."""

    id: str
    """Of the clip that stays; another than was asked for where that one gave way."""
    event_id: str
    fixture_id: int
    md5: str
    size: int
    duration: float
    moved: float
    """Seconds to add to a time in the video that was asked for to get the time in this one."""
    proof: Proof | None
    player: str | None
    minute: Minute
    home: str
    away: str

    @property
    def key(self) -> str:
        return clip_key(self.fixture_id, self.event_id, self.md5)

    @property
    def file_name(self) -> str:
        """Without its ending; whatever the names are, it is one name of a file on every system."""
        words = f"{self.player or 'Goal'} {self.minute} {self.home} {self.away}"
        plain = re.sub(r"[^\w\s+-]", "", unicodedata.normalize("NFC", words))
        return " ".join(plain.split())[:LONGEST_NAME].strip(" -+") or "Goal"

    @property
    def plain_file_name(self) -> str:
        """The same in ASCII."""
        letters = unicodedata.normalize("NFKD", self.file_name).encode("ascii", "ignore").decode()
        return " ".join(letters.split()).strip(" -+") or "Goal"
