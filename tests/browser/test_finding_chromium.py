"""Which Chromium is used, in which mode, and with which environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from found_footy.browser.chromium import choose_headless, environment, find_chromium
from found_footy.browser.login import has_display
from found_footy.errors import SettingsError


def test_chromium_gets_no_keys_and_passwords() -> None:
    given = {"PATH": "/bin", "LC_ALL": "C", "API_FOOTBALL_KEY": "k", "DATABASE_URL": "u", "FOOTY_S3_SECRET_KEY": "s"}
    kept = environment(given, Path("data") / "profile", "MARK=1")
    assert set(kept) == {"PATH", "LC_ALL", "MARK", "BREAKPAD_DUMP_LOCATION"}


def test_the_configured_browser_is_preferred(tmp_path: Path) -> None:
    program = tmp_path / "mine"
    program.write_text("#!/bin/sh\n")
    with pytest.raises(SettingsError, match="mine"):
        find_chromium(program)
    program.chmod(0o755)
    assert find_chromium(program) == program


@pytest.mark.parametrize(
    ("wanted", "given", "installed", "display", "headless"),
    [
        (True, None, "google-chrome", True, True),
        (False, None, "google-chrome", False, False),
        (None, None, "google-chrome", True, False),
        (None, None, "chromium", True, False),
        (None, None, "chromium", False, True),
        (None, None, "chromium-headless-shell", True, True),
        (None, "chrome-headless-shell", "google-chrome", True, True),
    ],
)
def test_a_browser_has_a_window_where_a_display_and_a_full_browser_exist(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    wanted: bool | None,
    given: str | None,
    installed: str,
    display: bool,
    headless: bool,
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / installed).write_text("#!/bin/sh\n")
    (tmp_path / installed).chmod(0o755)
    assert choose_headless(wanted, Path(given) if given else None, display=display) is headless


def test_the_names_are_tried_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SettingsError, match="apt install chromium"):
        find_chromium()
    windows = ("chromium-browser", "chromium", "google-chrome-stable", "google-chrome")
    for name in (*windows, "chrome-headless-shell", "chromium-headless-shell"):
        path = tmp_path / name
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        assert find_chromium() == path
    assert find_chromium(window=True) == tmp_path / "google-chrome", "a login needs a window"


@pytest.mark.parametrize(
    ("environment_", "platform", "expected"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ""}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({}, "darwin", True),
    ],
)
def test_a_window_needs_a_display(environment_: dict[str, str], platform: str, expected: bool) -> None:
    assert has_display(environment_, platform) is expected
