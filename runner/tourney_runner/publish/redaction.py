"""Redaction of published text.

Bots' stderr and causes of faults may contain control characters and paths of the machine that
played: of the bots' copies, of interpreters, and of the organiser's home.
"""

from __future__ import annotations

import os
import re
from functools import cache

from tourney_runner.process.installations import home_folder, managed_installations
from tourney_runner.text import printable

__all__ = ["published", "short_paths"]

_STAGED = re.compile(r"(?:/[^\s'\":(),;<>]+)?/bots/[0-9a-f]{32}/bot(?:/|\b)")
"""The folder of a staged copy in any cache."""
_GRANTED = re.compile(r"(?<![^\s\"'(])/(?!dev/)(?:[^\s/]+/)*([^\s/]+)")


def published(text: str) -> str:
    """Return a text with control characters as escapes and without the folders of a machine.

    Files of a bot are named relative to its folder, those of an interpreter by the name of its
    installation, and others in the organiser's home with ``~``.
    """
    text = _STAGED.sub("", printable(text))
    for folder, name in _known_folders():
        text = text.replace(folder, name)
    return re.sub(r"/home/[^/\s'\":]+", "~", text)


def short_paths(text: str) -> str:
    """Return a list of granted paths with the last part of each; devices stay whole."""
    return _GRANTED.sub(r"\1", printable(text))


@cache
def _known_folders() -> tuple[tuple[str, str], ...]:
    """Return folders and their replacements, the longest first."""
    trees = sorted(managed_installations(), key=len, reverse=True)
    names = [(tree, os.path.basename(tree)) for tree in trees if not tree.startswith("/usr")]  # noqa: PTH119 - text like all here
    home = home_folder()
    return (*names, *([(home, "~")] if home.count("/") > 1 or home == "/root" else []))
