"""Renders clips in a process of its own: `python -m found_footy.simulator.clips.worker FOLDER`.

A spec comes in as a line of JSON, and a line of JSON says that its file is there, or what went wrong. The process ends
when its input does, so it never outlives whoever started it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType

from av.error import FFmpegError
from pydantic import TypeAdapter

from found_footy.simulator.clips.rendering import HALF_MADE, render
from found_footy.simulator.clips.spec import ClipSpec

POLITENESS = 5
"""How far it stands back behind the system that is watched."""
SPECS = TypeAdapter(ClipSpec)


def _end(signum: int, frame: FrameType | None) -> None:
    # An exception would have to come through the encoder, which may swallow it.
    for path in HALF_MADE:
        path.unlink(missing_ok=True)
    os._exit(0)


def main(folder: Path) -> None:
    os.nice(POLITENESS)
    signal.signal(signal.SIGTERM, _end)
    # Control-C is meant for whoever started us, who then ends our input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        spec = SPECS.validate_json(line)
        problem = None
        try:
            render(spec, folder)
        except (OSError, ValueError, FFmpegError) as error:
            problem = f"{type(error).__name__}: {error}"[:500]
        sys.stdout.write(json.dumps({"file": spec.file_name, "problem": problem}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
