"""Where PostgreSQL's data lies, and as whom the server runs.

Normally the data is inside the data folder and the server runs as ourselves. As root it runs as another user;
where the data folder is closed to that user, the data goes to the shared folder instead, under a name derived
from the data folder's path. Data outside is found again or missed with an error: when the folder was moved,
an empty database does not silently take its place.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from found_footy.domain.errors import EngineError
from found_footy.ops.data_folder import DataFolder, write_private
from found_footy.ops.engines.accounts import Account, can_enter, is_root, owner_of, unprivileged_account
from found_footy.ops.engines.binaries import SHARED_FOLDER, Binaries, binaries_for, shared_folder

_MAJOR_VERSION = "18"  # each major version has a format of its own, so its data has a folder of its own


@dataclass(frozen=True, slots=True)
class Placement:
    """The decision: `home` holds the cluster `data` and what is needed while it is made."""

    home: Path
    account: Account | None
    binaries: Binaries

    @property
    def data(self) -> Path:
        """The cluster's own folder."""
        return self.home / _MAJOR_VERSION


def inside_home(folder: DataFolder) -> Path:
    """The place inside the data folder; password and port are always here."""
    return folder.path / "postgres"


def outside_home(folder: DataFolder) -> Path:
    """The place for this data folder in the shared folder."""
    digest = hashlib.sha256(str(folder.path).encode()).hexdigest()[:16]
    return SHARED_FOLDER / f"data-{digest}"


def place(folder: DataFolder) -> Placement:
    """Decide, and make the home."""
    inside = inside_home(folder)
    inside.mkdir(mode=0o700, exist_ok=True)
    if not is_root():
        return Placement(inside, None, binaries_for(None))
    home, account = _home_and_account(folder)
    _check_not_moved(folder, home)
    if home != inside:
        shared_folder()
        home.mkdir(exist_ok=True)
        write_private(_note(folder), f"{home}\n")
    home.chmod(0o711)  # the account walks through; only root sees and changes what is here
    placement = Placement(home, account, binaries_for(account))
    if not can_enter(account, [home]):
        raise EngineError(
            f"PostgreSQL runs as the user {account.name}, who cannot reach its data in {home}. "
            f"Allow it to walk through the parent folders (chmod o+x)."
        )
    return placement


def all_homes(folder: DataFolder) -> list[Path]:
    """Every place where this folder's data may lie."""
    return [inside_home(folder), *([outside_home(folder)] if is_root() else [])]


def _home_and_account(folder: DataFolder) -> tuple[Path, Account]:
    inside, outside = inside_home(folder), outside_home(folder)
    for home in (inside, outside):
        if (home / _MAJOR_VERSION).exists():
            account = owner_of(home / _MAJOR_VERSION)  # made as this user, even if another would be chosen today
            if account.uid == 0:
                raise EngineError(f"{home / _MAJOR_VERSION} belongs to root, as whom PostgreSQL does not run.")
            return home, account
    account = unprivileged_account()
    return (inside if can_enter(account, [folder.path]) else outside), account


def _check_not_moved(folder: DataFolder, home: Path) -> None:
    try:
        noted = Path(_note(folder).read_text().strip())
    except FileNotFoundError:
        return
    if not _was_initialised(folder):
        return  # an interrupted first start: there is nothing to lose yet
    if noted != home:
        raise EngineError(
            f"The database of {folder.path} is in {noted}, named after the folder's former path. "
            f"Move it to {outside_home(folder)} and write that path into {_note(folder)}, "
            f"or delete {_note(folder)} to begin with an empty database."
        )
    if not (home / _MAJOR_VERSION).exists():
        raise EngineError(
            f"The database of {folder.path} was in {home} and is not there any more. "
            f"Bring it back, or delete {inside_home(folder)} to begin with an empty one."
        )


def _was_initialised(folder: DataFolder) -> bool:
    return (inside_home(folder) / "port").exists()  # written after the first successful start


def _note(folder: DataFolder) -> Path:
    return inside_home(folder) / "location"
