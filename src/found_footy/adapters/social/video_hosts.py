"""Which links lead to a video. The table is `found_footy.domain.discovery.clip_hosts`."""

from found_footy.domain.discovery.clip_hosts import is_plausible_clip_link, is_video_link
from found_footy.domain.discovery.clip_hosts import split_link as split

__all__ = ["is_plausible_clip_link", "is_video_link", "split"]
