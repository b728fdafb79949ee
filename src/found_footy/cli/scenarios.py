"""`footy demo` and `footy simulate`: a scripted matchday, through the whole system or for one that runs elsewhere."""

from __future__ import annotations

from typing import Annotated

import typer

from found_footy.cli.common import EXIT_NOT_AS_EXPECTED, AsJson, run, settings_with_logs
from found_footy.config import load_settings
from found_footy.runtime.logging import configure

ScenarioName = Annotated[str, typer.Option("--scenario", help="Scenario file, or the name of a bundled scenario.")]


def demo(
    scenario: ScenarioName = "matchday",
    speed: Annotated[float, typer.Option(min=1, max=60, help="Matchday seconds per real second.")] = 60.0,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep running at the end until Ctrl-C. Default in a terminal.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Play a whole matchday on embedded engines, without keys or internet access, and compare it with the script."""
    from found_footy.cli.demo import run_demo

    settings = load_settings()
    configure("pretty", "ERROR")
    if not run_demo(scenario, settings, speed, keep=keep, as_json=as_json):
        raise SystemExit(EXIT_NOT_AS_EXPECTED)


def simulate(
    scenario: ScenarioName = "matchday",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on loopback; 0 picks a free one.")] = 0,
    speed: Annotated[float, typer.Option(min=1, max=600, help="Matchday seconds per real second.")] = 60.0,
    free_running: Annotated[
        bool, typer.Option("--free-running", help="Advance the clock without waiting for polls.")
    ] = False,
) -> None:
    """Serve a scripted matchday over HTTP, for a system that runs elsewhere."""
    from found_footy.cli.demo import serve_scenario

    settings = settings_with_logs("WARNING")
    run(lambda: serve_scenario(scenario, settings, port=port, speed=speed, lockstep=not free_running), when_stopped=0)
