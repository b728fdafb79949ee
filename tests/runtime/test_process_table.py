"""The table of processes, from `/proc` and from `ps`."""

from __future__ import annotations

import os

import pytest

from found_footy.runtime.process_table import Process, _read_ps, members_of, parse_ps_line, parse_stat, process_table

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
def test_the_name_of_a_process_may_contain_anything(line: str, process: Process) -> None:
    assert parse_stat(line) == process


def test_a_line_of_ps_is_parsed() -> None:
    assert parse_ps_line("  7     1     5 Ss   12") == Process(7, 1, 5, ended=False, memory=12 * 1024)
    assert parse_ps_line("7 1 5 Z+ 0").ended


def test_proc_and_ps_agree_on_this_process() -> None:
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
def test_members_are_found_by_descent_and_by_group(roots: set[int], groups: set[int], expected: set[int]) -> None:
    assert members_of(roots, groups, SEEN) == expected
