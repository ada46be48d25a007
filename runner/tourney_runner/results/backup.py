"""Backups of a results folder, also during a run, and what may be deleted from one."""

from __future__ import annotations

import re
import shutil
import sqlite3
import tempfile
import time
import zipfile
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from tourney_runner.errors import RunError, UsageError
from tourney_runner.results.store import FILE_NAME, Store

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["back_up", "clear_authors", "delete_logs", "restore"]

_LOGS = "logs"
_BESIDE = ("changes.json", "changes.txt", "workers.json")
"""Files of the folder that cannot be made again from the deals."""
_DAY = 86_400


def back_up(folder: Path, to: Path) -> int:
    """Write a ZIP file with everything in a results folder that cannot be computed again.

    A run may continue in the meantime; the copy has the deals that were stored when it was made.

    Args:
        folder: The results folder.
        to: The file, which is replaced only by a complete one.

    Returns:
        The number of deals in the copy.

    Raises:
        UsageError: There are no results of this version.
        DamageError: The results are damaged, so that a copy would be worthless.
        RunError: The disk fails.
    """
    if not (folder / FILE_NAME).is_file():
        raise UsageError(f"{folder}: there are no results here; `tourney run CONFIG` makes them")
    partial = to.with_name(f".{to.name}.{token_hex(4)}.new")
    try:
        with tempfile.TemporaryDirectory(dir=to.parent, prefix=".backup-") as temporary:
            copy = Path(temporary) / FILE_NAME
            _copy_database(folder / FILE_NAME, copy)
            with closing(Store(copy)) as store:
                store.about()
                deals = sum(1 for _ in store.outcomes())  # compares all checksums
            with zipfile.ZipFile(partial, "x", zipfile.ZIP_DEFLATED) as archive:
                archive.write(copy, FILE_NAME)
                for path in _others(folder):
                    archive.write(path, path.relative_to(folder).as_posix())
        partial.replace(to)
    except OSError as error:
        raise RunError(f"{to}: the backup cannot be written ({error.strerror or error})") from error
    except sqlite3.Error as error:
        raise RunError(f"{folder / FILE_NAME}: cannot be copied ({error})") from error
    finally:
        partial.unlink(missing_ok=True)
    return deals


def restore(backup: Path, folder: Path) -> int:
    """Make a results folder from a file that `back_up` wrote.

    Args:
        backup: The file.
        folder: The new folder, which is empty or does not exist.

    Returns:
        The number of deals.

    Raises:
        UsageError: The file is not a backup, or the folder holds files.
        DamageError: The results in it are damaged.
        RunError: The disk fails.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: this is not an empty folder; choose another")
    partial = folder.absolute().with_name(f".{folder.name}.{token_hex(4)}.new")
    try:
        _unpack(backup, partial)
        with closing(Store(partial / FILE_NAME)) as store:
            deals = sum(1 for _ in store.outcomes())
        if folder.exists():
            folder.rmdir()
        partial.rename(folder)
    except OSError as error:
        raise RunError(f"{folder}: cannot be restored ({error.strerror or error})") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return deals


def delete_logs(folder: Path, days: int = 0) -> int:
    """Delete the bots' logs that were not written to for some days; return their number.

    Raises:
        RunError: They cannot be deleted.
    """
    last = time.time() - days * _DAY
    try:
        old = [path for path in (folder / _LOGS).glob("*.log") if path.stat().st_mtime <= last]
        for path in old:
            path.unlink()
    except OSError as error:
        raise RunError(f"{folder / _LOGS}: cannot be deleted ({error.strerror})") from error
    return len(old)


def clear_authors(store: Store) -> int:
    """Remove the names of authors from the stored record; return how many bots had one."""
    entrants = store.about().entrants
    named = sum(bool(bot.author) for bot in entrants)
    store.change(entrants=tuple(msgspec.structs.replace(bot, author="") for bot in entrants))
    return named


def _copy_database(source: Path, copy: Path) -> None:
    address = f"file:{quote(str(source.absolute()))}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as here, closing(sqlite3.connect(copy)) as new:
        here.backup(new)
        new.execute("PRAGMA journal_mode = DELETE")  # else it would need two more files


def _others(folder: Path) -> Iterator[Path]:
    yield from (path for name in _BESIDE if (path := folder / name).is_file())
    yield from sorted((folder / _LOGS).glob("*.log"))


def _unpack(backup: Path, folder: Path) -> None:
    """Unpack the files that a backup has, under their own names and no others."""
    try:
        with zipfile.ZipFile(backup) as archive:
            names = archive.namelist()
            if FILE_NAME not in names:
                raise UsageError(f"{backup}: this is not a backup of results")
            (folder / _LOGS).mkdir(parents=True)
            for name in names:
                if name in {FILE_NAME, *_BESIDE} or re.fullmatch(rf"{_LOGS}/[\w.-]+\.log", name):
                    with archive.open(name) as packed, (folder / name).open("xb") as file:
                        shutil.copyfileobj(packed, file)
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise UsageError(f"{backup}: this is not a backup of results ({error})") from error
