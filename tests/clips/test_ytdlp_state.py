"""The age of yt-dlp, and the JavaScript runtimes it can use."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from found_footy.clips import ytdlp_state as module
from found_footy.clips.ytdlp_state import JsRuntime, ytdlp_age, ytdlp_state

TODAY = date(2026, 11, 25)


@pytest.mark.parametrize(
    ("version", "days"),
    [("2026.10.26", 30), ("2026.11.25", 0), ("2026.11.24.232811.dev0", 1), ("2026.13.40", None), ("unknown", None)],
)
def test_the_version_names_the_day_of_the_release(version: str, days: int | None) -> None:
    assert ytdlp_age(version, TODAY) == (None if days is None else timedelta(days=days))


def test_the_installed_yt_dlp_is_described() -> None:
    state = ytdlp_state()
    assert ytdlp_age(state.version, TODAY) is not None


def test_a_runtime_is_handed_over_by_its_full_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.shutil, "which", lambda name, path=None: f"/opt/{name}" if path is None else None)
    assert module.js_runtimes() == (JsRuntime("deno", "/opt/deno"), JsRuntime("node", "/opt/node"))


@pytest.mark.parametrize(
    ("listed", "needed"),
    [
        (
            ["requests; extra == 'default'", "yt-dlp-ejs==0.8.0; extra == 'default'", "deno>=2.9.8; extra == 'deno'"],
            ("yt-dlp-ejs==0.8.0", "deno>=2.9.8"),
        ),
        (["deno==2.9.8; extra == 'pin-deno'", 'yt-dlp-ejs==1.0 ; extra == "default"'], ("yt-dlp-ejs==1.0", "deno")),
        ([], ("yt-dlp-ejs", "deno")),
    ],
)
def test_youtube_requirements_are_installed_in_the_versions_of_yt_dlp(
    listed: list[str], needed: tuple[str, ...]
) -> None:
    assert module.js_requirements(listed) == needed
