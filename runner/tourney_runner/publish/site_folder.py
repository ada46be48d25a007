"""The folder of a site, and checks that no other files are overwritten."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tourney_runner.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["MARKER", "SITE_FOLDER", "check_free", "claim", "is_site"]

MARKER = "site.json"
"""The file that identifies a site; it contains the time at which the site was made."""
SITE_FOLDER = "site"
"""The site's subfolder of a results folder; the results folder itself contains private files."""


def is_site(folder: Path) -> bool:
    """Return whether a folder is a site.

    Raises:
        UsageError: It cannot be read.
    """
    with _in_reach(folder):
        return (folder / MARKER).is_file()


def check_free(folder: Path) -> None:
    """Make sure that no other files would be overwritten.

    Raises:
        UsageError: The folder holds files but not a site, or cannot be read.
    """
    with _in_reach(folder):
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{folder}: this is a file, the site needs a folder")
        if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).exists():
            raise UsageError(
                f"{folder}: this folder holds other files and is not a site; move them away, or"
                " write the site elsewhere"
            )


def claim(folder: Path, inside: Iterable[str]) -> None:
    """Make a folder for a site, and mark it as one.

    Args:
        folder: The folder.
        inside: Names of the folders to make in it.

    Raises:
        UsageError: It holds other files, or cannot be written.
    """
    check_free(folder)
    with _in_reach(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARKER).touch()
        for name in inside:
            (folder / name).mkdir(exist_ok=True)


@contextmanager
def _in_reach(folder: Path) -> Iterator[None]:
    """Turn errors of the disk into advice about a folder that cannot be read or written.

    Raises:
        UsageError: The folder cannot be read or written.
    """
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"{folder}: the site cannot be read or written here ({error.strerror}). The stored"
            " deals are safe; see that files can be read and written there, or move the folder"
            " away, then run the same command again: the site is made from the deals."
        ) from error
