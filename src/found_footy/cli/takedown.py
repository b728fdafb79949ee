"""`footy takedown`: remove or hide clips, and show what was taken down."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from found_footy.cli.common import AsJson, err, located_settings, out, print_json, run

if TYPE_CHECKING:
    from found_footy.clips.takedown import Takedown, TakedownService

T = TypeVar("T")

takedown = typer.Typer(
    name="takedown",
    help="Remove or hide a clip, all clips of a goal, or everything posted by an account.",
    no_args_is_help=True,
)

Reason = Annotated[str, typer.Option(help="Reason, shown to anyone who follows a link to the clip.")]
Hide = Annotated[
    bool, typer.Option("--hide", help="Hide the files instead of deleting them, so that the takedown can be lifted.")
]


@takedown.command()
def clip(
    link: Annotated[str, typer.Argument(help="Link or id of a clip, such as /v/0123456789abcdef.")],
    reason: Reason,
    hide: Hide = False,
    as_json: AsJson = False,
) -> None:
    """Take down a clip and all copies merged into it, for all goals and in the library."""
    _take_down("clip", link, reason, hide, as_json)


@takedown.command()
def goal(
    event_id: Annotated[str, typer.Argument(help="Id or link of a goal.")],
    reason: Reason,
    hide: Hide = False,
    as_json: AsJson = False,
) -> None:
    """Take down all clips of a goal, including those found later."""
    _take_down("goal", event_id, reason, hide, as_json)


@takedown.command()
def account(
    name: Annotated[str, typer.Argument(help="Name of an account, with or without @.")],
    reason: Reason,
    source: Annotated[str | None, typer.Option(help="Source of the account, such as x; default: every source.")] = None,
    hide: Hide = False,
    as_json: AsJson = False,
) -> None:
    """Take down everything that an account posted, including what it posts later."""
    _take_down("account", name, reason, hide, as_json, source)


@takedown.command(name="list")
def list_takedowns(as_json: AsJson = False) -> None:
    """List takedowns, newest first."""
    found = _with_takedowns(lambda service: service.all())
    if as_json:
        print_json([asdict(each) for each in found])
        return
    if not found:
        out.print("nothing has been taken down")
    for each in found:
        out.print(_line(each), markup=False, soft_wrap=True)


@takedown.command()
def lift(
    takedown_id: Annotated[int, typer.Argument(help="Takedown id, from `footy takedown list`.")],
    as_json: AsJson = False,
) -> None:
    """Lift a takedown: show hidden clips again. Deleted clips cannot be restored."""
    done = _with_takedowns(lambda service: service.lift(takedown_id, "cli"))
    print_json(asdict(done)) if as_json else out.print(_line(done), markup=False, soft_wrap=True)


def _take_down(scope: str, target: str, reason: str, hide: bool, as_json: bool, source: str | None = None) -> None:
    from found_footy.clips.takedown import TakedownKind, TakedownOrder, TakedownScope

    kind = TakedownKind.HIDE if hide else TakedownKind.REMOVE
    order = TakedownOrder(kind, TakedownScope(scope), target, reason, source)
    done = _with_takedowns(lambda service: service.take_down(order, "cli"))
    if as_json:
        print_json(asdict(done))
        return
    out.print(_line(done), markup=False, soft_wrap=True)
    if done.files_done_at is None:
        err.print("the object store is unavailable; the files will be deleted once it is back", style="dim")


def _line(each: Takedown) -> str:
    what = f"{each.kind} {each.scope} {each.target}" + (f" on {each.source}" if each.source else "")
    covered = f"{each.clips} clips, {each.posts} posts, {each.library} library sources"
    state = f"lifted {each.lifted_at:%Y-%m-%d %H:%M} UTC by {each.lifted_by}" if each.lifted_at else ""
    pending = "" if each.files_done_at else "files pending"
    facts = [str(each.id), f"{each.at:%Y-%m-%d %H:%M} UTC", each.by, what, covered, each.reason, pending, state]
    return "  ".join(fact for fact in facts if fact)


def _with_takedowns(use: Callable[[TakedownService], Coroutine[Any, Any, T]]) -> T:
    settings = located_settings("database_url")

    async def body() -> T:
        from found_footy.app import open_takedowns

        async with open_takedowns(settings) as service:
            return await use(service)

    return run(body)
