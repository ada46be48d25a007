"""Which folders a site may be written into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["MARKER", "SITE_FOLDER", "check_free", "claim"]

MARKER = "site.json"
"""The file by which a site is known; it says when the site was made."""
SITE_FOLDER = "site"
"""Where the site lies in a folder of results; the folder itself holds things that are private."""


def check_free(folder: Path) -> None:
    """Make sure that nobody else's files would be overwritten.

    Raises:
        UsageError: The folder holds other things and no site.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: this is a file, the site needs a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).exists():
        raise UsageError(
            f"{folder}: this folder holds other things and no site; move them away, or have the"
            " site written elsewhere"
        )


def claim(folder: Path) -> None:
    """Make a folder for a site, and mark it as one.

    Raises:
        UsageError: It holds other things, or cannot be written.
    """
    check_free(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARKER).touch()
    except OSError as error:
        raise UsageError(f"{folder}: the site cannot be written here: {error}") from error
