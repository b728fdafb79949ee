"""`footy demo` and `footy simulate`: a scripted matchday, through the whole system or for one that runs elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Annotated, Any

import typer

from found_footy.command import EXIT_NOT_AS_EXPECTED, AsJson, run
from found_footy.config import load_settings
from found_footy.console import err, out, print_json
from found_footy.domain.errors import ScenarioError
from found_footy.ops.logging import configure


def demo(
    scenario: Annotated[str, typer.Option(help="A scenario file, or the name of a bundled one.")] = "matchday",
    speed: Annotated[float, typer.Option(min=1, max=60, help="Matchday seconds per second.")] = 60.0,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Stay up at the end until Ctrl-C, as in a terminal."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Play a whole matchday on the embedded engines, without keys and without the internet."""
    from found_footy.bootstrap_stores import open_store
    from found_footy.ops.demo import play
    from found_footy.ops.demo_library import editor_token
    from found_footy.ops.demo_view import DemoView
    from found_footy.simulator.loader import load_scenario

    script = load_scenario(scenario)
    if script.recording is not None:
        raise ScenarioError(f"{scenario} is a recording: it has no script to hold the outcome against")
    settings = load_settings()
    configure("pretty", "ERROR")
    view = DemoView(err if as_json else out, script.title)

    async def afterwards(system: Any, verdict: Any) -> None:
        view.close()
        if as_json:
            print_json(verdict.to_json())
        else:
            view.summary(verdict)
        if keep or (out.is_terminal and not as_json):
            async with open_store(system.settings) as store:
                view.keep(system.settings, await editor_token(store.database))
            # Ctrl-C ends the waiting, not the command: its exit code is that of the matchday.
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    with view:
        verdict = run(lambda: play(script, settings, speed, view.show, afterwards, rendering=view.rendering))
    if verdict.mismatches:
        raise SystemExit(EXIT_NOT_AS_EXPECTED)


def simulate(
    scenario: Annotated[str, typer.Option(help="A scenario file, or the name of a bundled one.")] = "matchday",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on loopback; 0 takes a free one.")] = 0,
    speed: Annotated[float, typer.Option(min=1, max=600, help="Matchday seconds per second.")] = 60.0,
    free_running: Annotated[bool, typer.Option("--free-running", help="Do not wait for whoever polls.")] = False,
) -> None:
    """Serve a scripted matchday over HTTP, for a system that runs elsewhere."""
    from found_footy.ops.demo import clips_folder, simulator_environment
    from found_footy.simulator.loader import load_scenario
    from found_footy.simulator.server import Simulator, serve_forever

    script = load_scenario(scenario)
    folder = clips_folder(load_settings())
    configure("pretty", "WARNING")

    def ready(simulator: Simulator) -> None:
        others = [name for name, told in (("ESPN", script.feeds.espn), ("CREX", script.cricket)) if told]
        ours = ", ".join([f"API-Football with the key {simulator.key}", *others])
        feeds = ours if script.recording is None else "ESPN"
        out.print(f"{feeds} at {simulator.url}; stop with Ctrl-C", soft_wrap=True)
        if script.recording is None:
            out.print("for `footy up` in another terminal:", style="dim")
            for name, value in simulator_environment(simulator, folder.parent).items():
                out.print(f"export {name}={value}", markup=False, soft_wrap=True)

    def serve() -> Coroutine[Any, Any, None]:
        return serve_forever(
            script, port=port, speed=speed, lockstep=not free_running, clips_folder=folder, on_ready=ready
        )

    run(serve, when_stopped=0)
