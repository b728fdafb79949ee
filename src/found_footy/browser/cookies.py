"""Backup of the login: the cookies of X in a file, shared by all browsers of the service."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from found_footy.runtime.data_folder import write_private

log = logging.getLogger(__name__)

FILE_NAME = "cookies.json"
COOKIE_FIELDS = ("name", "value", "domain", "path", "expires", "httpOnly", "secure", "sameSite")
MAX_BYTES = 1_000_000


def cookie_file(folder: Path) -> Path:
    """Return the backup file; `folder` is `browser` in the data folder."""
    return folder / FILE_NAME


def has_login(folder: Path) -> bool:
    """Whether someone has logged in with this data folder."""
    return cookie_file(folder).exists()


async def back_up_cookies(context: BrowserContext, x_url: str, folder: Path) -> bool:
    """Save the cookies of X if they have changed. Call only when they are known to be those of a login."""
    cookies = [{name: each.get(name) for name in COOKIE_FIELDS} for each in await context.cookies(x_url)]
    text = json.dumps(sorted(cookies, key=lambda each: (str(each["domain"]), str(each["name"]))))
    file = cookie_file(folder)
    if not cookies or (file.exists() and file.read_text() == text):
        return False
    write_private(file, text)
    return True


async def restore_cookies(context: BrowserContext, x_url: str, folder: Path, *, replace: bool) -> bool:
    """Load the saved cookies. Without `replace`, skip a browser that has cookies of X, which are newer."""
    cookies = _load_saved(folder, urlsplit(x_url).hostname or "")
    if not cookies or (not replace and await context.cookies(x_url)):
        return False
    try:
        await context.add_cookies(cookies)
    except PlaywrightError as error:
        log.warning("cannot restore the cookies: %s", error.message, extra={"action": "cookies_not_restored"})
        return False
    log.info("restored the login from its backup", extra={"action": "cookies_restored", "cookies": len(cookies)})
    return True


def _load_saved(folder: Path, host: str) -> list[Any]:
    """Return the saved cookies that belong to X."""
    file = cookie_file(folder)
    try:
        if file.stat().st_size > MAX_BYTES:
            return []
        cookies = json.loads(file.read_text())
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        log.warning("cannot read %s: %s", file.name, error, extra={"action": "cookies_unreadable"})
        return []
    if not isinstance(cookies, list):
        return []
    return [each for each in cookies if isinstance(each, dict) and _is_of_host(str(each.get("domain", "")), host)]


def _is_of_host(domain: str, host: str) -> bool:
    name = domain.removeprefix(".")
    return bool(name) and (host == name or host.endswith(f".{name}"))
