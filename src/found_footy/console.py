"""Where commands write to: standard output for answers, standard error for everything else."""

from __future__ import annotations

import json
import sys

from rich.console import Console

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")
