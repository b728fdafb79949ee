"""Benchmarks of docs/reference/performance.md: `make bench`, or `make bench ARGS="poll_cycle"` for one of them."""

from __future__ import annotations

import argparse
import asyncio
import importlib

BENCHES = (
    "startup",
    "workflow_starts",
    "poll_cycle",
    "many_matches",
    "time_to_stable",
    "limits",
    "long_day",
    "rendering",
    "hashing",
    "matching",
    "sprites",
    "scene_detection",
    "vision",
    "whole_clip",
    "accuracy",
    "clip_latency",
    "saturday",
    "clip_costs",
    "requests",
    "first_paint",
    "stream",
    "library_search",
    "review",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", allow_abbrev=False)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHES)}; without any, all of them"
    )
    parser.add_argument("--workers", type=int, action="append", help="worker processes of `saturday`; may be repeated")
    options = parser.parse_args()
    for name in options.names or BENCHES:
        if name not in BENCHES:
            parser.error(f"unknown bench {name!r}: expected one of {', '.join(BENCHES)}")
        module = importlib.import_module(f"bench.{name}")
        print(f"\n## {module.__doc__.strip().splitlines()[0]}\n", flush=True)
        arguments = [options.workers] if name == "saturday" and options.workers else []
        asyncio.run(module.main(*arguments))


if __name__ == "__main__":
    main()
