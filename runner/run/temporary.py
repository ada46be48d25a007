"""The folder that holds all temporary files of a run, so that none is left behind."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["TEMP_PREFIX", "remove_tree"]

TEMP_PREFIX = "tourney-run-"


def remove_tree(folder: Path) -> None:
    """Remove a folder that bots have written to, also where they have locked themselves out."""
    for parent, folders, _ in os.walk(folder):
        for name in folders:
            path = os.path.join(parent, name)  # noqa: PTH118 - os.walk's own kind
            if not os.path.islink(path):  # noqa: PTH114
                with suppress(OSError):
                    os.chmod(path, 0o700)  # noqa: PTH101
    shutil.rmtree(folder, ignore_errors=True)
