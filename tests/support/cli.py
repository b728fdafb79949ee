"""Runs the `footy` command in this process."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from found_footy.cli import common
from found_footy.cli.main import main
from found_footy.config import PREFIX, environment_names
from found_footy.storage.redis import RedisCache

FOOTY = Path(sys.executable).parent / "footy"


@dataclass(frozen=True)
class CliResult:
    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """Standard error without frames and line breaks."""
        return " ".join(word for word in self.err.split() if word.strip("│╭╮╰╯─"))

    def error(self) -> dict[str, Any]:
        """The JSON form of an error, which must be all of standard error."""
        document = json.loads(self.err)
        assert list(document) == ["error"]
        assert set(document["error"]) == {"class", "message", "hint"}
        found: dict[str, Any] = document["error"]
        return found


def clean_environment(data_folder: Path) -> dict[str, str]:
    """No settings, an empty data folder, and a wide terminal without colours."""
    named = set(environment_names().values())
    kept = {k: v for k, v in os.environ.items() if not k.upper().startswith(PREFIX) and k not in named}
    return kept | {"FOOTY_DATA_DIR": str(data_folder), "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}


def run_cli(*arguments: str, env: Mapping[str, str], cwd: Path, input: str = "") -> CliResult:
    """As `footy ARGUMENTS` in a process of its own: exit code and both streams. Restores what the command changes."""
    out, err = _text_stream(), _text_stream()
    with ExitStack() as changed:
        changed.enter_context(chdir(cwd))
        changed.enter_context(patch.dict(os.environ, env, clear=True))
        changed.enter_context(patch.object(sys, "argv", ["footy", *arguments]))
        changed.enter_context(patch.object(sys, "stdin", _text_stream(input)))
        changed.enter_context(patch.object(sys, "stdout", out))
        changed.enter_context(patch.object(sys, "stderr", err))
        for console in (common.out, common.err):  # both read COLUMNS once, at the first import
            changed.enter_context(patch.object(console, "_width", int(env.get("COLUMNS", 80))))
        changed.enter_context(_logging_restored())
        changed.enter_context(_signals_restored())
        code = _exit_code()
    return CliResult(code, _content(out), _content(err))


def _exit_code() -> int:
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


@contextmanager
def _logging_restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, disabled = list(root.handlers), root.level, logging.root.manager.disable
    levels = {name: each.level for name, each in root.manager.loggerDict.items() if isinstance(each, logging.Logger)}
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        logging.disable(disabled)
        for name, before in levels.items():
            logging.getLogger(name).setLevel(before)


@contextmanager
def _signals_restored() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread may handle signals.
        with patch("found_footy.cli.common.STOP_SIGNALS", ()):
            yield
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _text_stream(content: str = "") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content.encode()), encoding="utf-8", write_through=True)


def _content(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.detach()
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()


def clear_redis(url: str) -> None:
    async def clear() -> None:
        cache = RedisCache(url)
        try:
            await cache.run("FLUSHDB")
        finally:
            await cache.aclose()

    asyncio.run(clear())
