"""`footy token`: who may change something, and where reading is not open, who may read."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from found_footy.command import AsJson, run
from found_footy.config import load_settings
from found_footy.console import err, out, print_json
from found_footy.domain.access import ID_LENGTH, SECRET_BYTES, Role, Token, new_token
from found_footy.domain.errors import EngineError
from found_footy.ops.logging import configure

if TYPE_CHECKING:
    from found_footy.adapters.storage.postgres.access import PostgresAccess

T = TypeVar("T")

token = typer.Typer(
    name="token",
    help="Make, list and revoke the tokens by which programs and people are let in.",
    no_args_is_help=True,
)


@token.command()
def create(
    name: Annotated[str, typer.Option(help="Whose it is, to know it by.")],
    role: Annotated[str, typer.Option(help="reader, editor or operator; each may do what those before it may.")],
    days: Annotated[int | None, typer.Option(min=1, max=36500, help="For how long it holds; without it, for good.")] = (
        None
    ),
    as_json: AsJson = False,
) -> None:
    """Make a token, and show it: once, for only its hash is kept."""
    called = name.strip()
    if not 1 <= len(called) <= 100 or not called.isprintable():
        raise typer.BadParameter("a name has 1 to 100 characters that can be printed", param_hint="--name")
    given = _role(role)
    now = _now()
    random, secret = secrets.token_bytes(ID_LENGTH), secrets.token_bytes(SECRET_BYTES)
    made, text = new_token(called, given, now, random, secret, timedelta(days=days) if days else None)
    _ask(lambda access: access.add_token(made))
    if as_json:
        print_json({**_document(made, now), "token": text})
    else:
        out.print(text, markup=False, soft_wrap=True)
        err.print(f"{made.role} token {made.id} for {called!r}; it is not shown again", markup=False, style="dim")


@token.command(name="list")
def list_tokens(as_json: AsJson = False) -> None:
    """List the tokens, also those that hold no longer."""
    tokens = _ask(lambda access: access.tokens())
    now = _now()
    if as_json:
        print_json([_document(each, now) for each in tokens])
        return
    if not tokens:
        out.print("no tokens; `footy token create` makes one")
    for each in tokens:
        facts = [each.id, str(each.role), each.name, f"made {each.created_at:%Y-%m-%d}", _end(each, now), _use(each)]
        out.print("  ".join(fact for fact in facts if fact), markup=False, soft_wrap=True, highlight=False)


@token.command()
def revoke(
    token_id: Annotated[str, typer.Argument(help="As `footy token list` shows it.")],
    as_json: AsJson = False,
) -> None:
    """End a token and all logins that were made with it, at once."""
    ended = _ask(lambda access: access.revoke(token_id, _now()))
    if as_json:
        print_json(_document(ended, _now()))
    else:
        out.print(f"{ended.id} ({ended.name}) is revoked", markup=False)


def _role(text: str) -> Role:
    try:
        return Role.named(text)
    except KeyError:
        allowed = ", ".join(str(role) for role in Role)
        raise typer.BadParameter(f"{text!r} is none of {allowed}", param_hint="--role") from None


def _document(token: Token, now: datetime) -> dict[str, Any]:
    moments = {
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "revoked_at": token.revoked_at,
        "last_used_at": token.last_used_at,
    }
    return {
        "id": token.id,
        "name": token.name,
        "role": str(token.role),
        "state": token.ended(now) or "valid",
        **{name: at.isoformat() if at else None for name, at in moments.items()},
    }


def _end(token: Token, now: datetime) -> str:
    if token.revoked_at is not None:
        return f"revoked {token.revoked_at:%Y-%m-%d}"
    if token.expires_at is None:
        return ""
    return f"{'expired' if token.ended(now) else 'until'} {token.expires_at:%Y-%m-%d}"


def _use(token: Token) -> str:
    return f"last used {token.last_used_at:%Y-%m-%d %H:%M} UTC" if token.last_used_at else "never used"


def _ask(look: Callable[[PostgresAccess], Coroutine[Any, Any, T]]) -> T:
    """Asks the database of the running system."""
    from found_footy.adapters.storage.postgres.access import PostgresAccess
    from found_footy.adapters.storage.postgres.database import Database
    from found_footy.ops.locate import with_running_engines

    settings = load_settings()
    configure(settings.log_format, "ERROR")
    located = settings if settings.database_url else with_running_engines(settings)
    if located.database_url is None:
        raise EngineError("no database is known; start `footy up`, or set DATABASE_URL")
    # Only what is needed here: the composition root would load every engine's client.
    database = Database(located.database_url.get_secret_value())

    async def body() -> T:
        await database.open()
        try:
            return await look(PostgresAccess(database))
        finally:
            await database.close()

    return run(body)


def _now() -> datetime:
    return datetime.now(UTC)
