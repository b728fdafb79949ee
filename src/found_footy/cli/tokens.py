"""`footy token`: create, list and revoke access tokens."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from found_footy.access.models import ID_LENGTH, SECRET_BYTES, Role, Token, new_token
from found_footy.cli.common import AsJson, check_choice, err, out, print_json, with_database
from found_footy.runtime.clock import utc_now

if TYPE_CHECKING:
    from found_footy.access.store import TokenStore
    from found_footy.storage.postgres import Database

T = TypeVar("T")

DEFAULT_DAYS = 90

token = typer.Typer(
    name="token",
    help="Create, list and revoke access tokens.",
    no_args_is_help=True,
)


@token.command()
def create(
    name: Annotated[str, typer.Option(help="Who or what will use it.")],
    role: Annotated[
        str, typer.Option(help="reader, editor or operator; each includes the rights of the ones before it.")
    ],
    days: Annotated[int, typer.Option(min=1, max=36500, help="Days until it expires.")] = DEFAULT_DAYS,
    never_expires: Annotated[bool, typer.Option("--never-expires", help="Create a token that never expires.")] = False,
    as_json: AsJson = False,
) -> None:
    """Create a token and print it. It cannot be shown again: only its hash is stored."""
    token_name = name.strip()
    if not 1 <= len(token_name) <= 100 or not token_name.isprintable():
        raise typer.BadParameter("expected 1 to 100 printable characters", param_hint="--name")
    token_role = _parse_role(role)
    now = _now()
    random, secret = secrets.token_bytes(ID_LENGTH), secrets.token_bytes(SECRET_BYTES)
    lifetime = None if never_expires else timedelta(days=days)
    created, text = new_token(token_name, token_role, now, random, secret, lifetime)
    _with_access(lambda access: access.add_token(created))
    if as_json:
        print_json({**_document(created, now), "token": text})
    else:
        out.print(text, markup=False, soft_wrap=True)
        ends = _expiry_text(created, now) or "never expires"
        message = f"{created.role} token {created.id} for {token_name!r}, {ends}; it will not be shown again"
        err.print(message, markup=False, style="dim")


@token.command(name="list")
def list_tokens(as_json: AsJson = False) -> None:
    """List all tokens, including expired and revoked ones."""
    tokens = _with_access(lambda access: access.tokens())
    now = _now()
    if as_json:
        print_json([_document(each, now) for each in tokens])
        return
    if not tokens:
        out.print("no tokens; create one with `footy token create`")
    for each in tokens:
        facts = [
            each.id,
            str(each.role),
            each.name,
            f"created {each.created_at:%Y-%m-%d}",
            _expiry_text(each, now),
            _usage_text(each),
        ]
        out.print("  ".join(fact for fact in facts if fact), markup=False, soft_wrap=True, highlight=False)


@token.command()
def revoke(
    token_id: Annotated[str, typer.Argument(help="Token id, from `footy token list`.")],
    as_json: AsJson = False,
) -> None:
    """Revoke a token and all sessions created with it."""
    ended = _with_access(lambda access: access.revoke(token_id, _now()))
    if as_json:
        print_json(_document(ended, _now()))
    else:
        out.print(f"revoked {ended.id} ({ended.name})", markup=False)


def _parse_role(text: str) -> Role:
    check_choice(text, Role, "--role")
    return Role.named(text)


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
        "state": token.end_reason(now) or "valid",
        **{name: at.isoformat() if at else None for name, at in moments.items()},
    }


def _expiry_text(token: Token, now: datetime) -> str:
    if token.revoked_at is not None:
        return f"revoked {token.revoked_at:%Y-%m-%d}"
    if token.expires_at is None:
        return ""
    return f"{'expired' if token.end_reason(now) else 'until'} {token.expires_at:%Y-%m-%d}"


def _usage_text(token: Token) -> str:
    return f"last used {token.last_used_at:%Y-%m-%d %H:%M} UTC" if token.last_used_at else "never used"


def _with_access(use: Callable[[TokenStore], Coroutine[Any, Any, T]]) -> T:
    async def body(database: Database) -> T:
        from found_footy.access.store import TokenStore

        return await use(TokenStore(database))

    return with_database(body)


def _now() -> datetime:
    return utc_now()
