"""The secret between `footy browser` and its clients."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from found_footy.config import Settings
from found_footy.errors import SettingsError

HEADER = "X-Footy-Browser-Secret"


def browser_headers(settings: Settings) -> dict[str, str]:
    """Return the headers of a client. Raises SettingsError."""
    return {HEADER: browser_secret(settings)}


def browser_secret(settings: Settings) -> str:
    """Return FOOTY_BROWSER_SECRET, or the secret in the data folder, which processes on one machine share.

    Raises SettingsError if neither is possible.
    """
    if settings.browser_secret is not None:
        return settings.browser_secret.get_secret_value()
    path = settings.data_dir.absolute() / "browser" / "secret"
    try:
        return _shared(path)
    except OSError as error:
        detail = f"{path} cannot be used: {error.strerror}"
        raise SettingsError(
            f"FOOTY_BROWSER_SECRET is not set, and {detail}. Set it to the same value on all machines."
        ) from None


def _shared(path: Path) -> str:
    """Read the secret. The first process creates it."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_name(f"secret-{secrets.token_hex(8)}")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
        try:
            os.link(draft, path)  # unlike a rename, never replaces a secret that another process has read
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()
