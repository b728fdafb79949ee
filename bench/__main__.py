"""Benchmarks of docs/reference/performance.md: `make bench`, or `make bench ARGS="poll_cycle"` for one of them."""

from __future__ import annotations

import asyncio
import importlib
import sys

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
    "goal_burst",
    "clip_costs",
    "requests",
    "first_paint",
    "stream",
    "library_search",
    "review",
)


def main() -> None:
    chosen = sys.argv[1:] or BENCHES
    for name in chosen:
        if name not in BENCHES:
            sys.exit(f"no bench is named {name}; there are {', '.join(BENCHES)}")
        module = importlib.import_module(f"bench.{name}")
        print(f"\n## {module.__doc__.strip().splitlines()[0]}\n", flush=True)
        asyncio.run(module.main())


if __name__ == "__main__":
    main()
