"""Which processes are a browser's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from found_footy.browser.chromium import (
    Process,
    _read_ps,
    choose_headless,
    environment,
    find_chromium,
    members_of,
    parse_ps_line,
    parse_stat,
    process_table,
)
from found_footy.browser.login import has_display
from found_footy.errors import SettingsError

PAGE = os.sysconf("SC_PAGE_SIZE")
REST = "0 " * 18 + "3 0"


@pytest.mark.parametrize(
    ("line", "process"),
    [
        (f"7 (chromium) S 1 5 {REST}", Process(7, 1, 5, ended=False, memory=3 * PAGE)),
        (f"7 (a (b) c) d) Z 1 5 {REST}", Process(7, 1, 5, ended=True, memory=3 * PAGE)),
        (f"7 () R 2 3 4) S 1 5 {REST}", Process(7, 1, 5, ended=False, memory=3 * PAGE)),
    ],
)
def test_a_process_is_read_whatever_its_name(line: str, process: Process) -> None:
    assert parse_stat(line) == process


def test_the_same_is_read_from_ps() -> None:
    assert parse_ps_line("  7     1     5 Ss   12") == Process(7, 1, 5, ended=False, memory=12 * 1024)
    assert parse_ps_line("7 1 5 Z+ 0").ended


def test_both_ways_see_this_process() -> None:
    by_ps = {process.pid: process for process in _read_ps()}
    mine = process_table()[os.getpid()]
    assert (by_ps[mine.pid].parent, by_ps[mine.pid].group) == (mine.parent, mine.group)


def table(*rows: tuple[int, int, int]) -> dict[int, Process]:
    return {pid: Process(pid, parent, group, ended=False) for pid, parent, group in rows}


SEEN = table((1, 0, 1), (10, 1, 10), (20, 10, 20), (21, 20, 20), (22, 21, 22), (30, 1, 20), (31, 30, 31), (40, 1, 40))


@pytest.mark.parametrize(
    ("roots", "groups", "expected"),
    [
        ({20}, set(), {20, 21, 22}),
        ({10}, set(), {10, 20, 21, 22}),
        (set(), {20}, {20, 21, 22, 30, 31}),
        ({40}, {22}, {22, 40}),
        (set(), set(), set()),
    ],
)
def test_descent_and_groups_tell_what_belongs(roots: set[int], groups: set[int], expected: set[int]) -> None:
    assert members_of(roots, groups, SEEN) == expected


def test_chromium_gets_no_keys_and_passwords() -> None:
    given = {"PATH": "/bin", "LC_ALL": "C", "API_FOOTBALL_KEY": "k", "DATABASE_URL": "u", "FOOTY_S3_SECRET_KEY": "s"}
    kept = environment(given, Path("data") / "profile", "MARK=1")
    assert set(kept) == {"PATH", "LC_ALL", "MARK", "BREAKPAD_DUMP_LOCATION"}


def test_the_browser_that_is_given_wins(tmp_path: Path) -> None:
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
