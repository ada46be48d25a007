"""A bot that is ready to run: a plain value that travels to workers and into the results."""

from __future__ import annotations

import msgspec

from tourney_runner.process.launcher import Rights

__all__ = ["Bot"]


class Bot(msgspec.Struct, frozen=True, kw_only=True):
    """A staged entrant. Start `command` in `folder` with `env` on top of a clean environment."""

    number: int
    """The entrant's number, from 0."""
    name: str
    language: str
    author: str
    folder: str
    """The read-only copy of its sources, built; absolute."""
    command: tuple[str, ...]
    """The first word is the absolute path of the program, not of a version manager's shim."""
    env: dict[str, str]
    hash: str
    """SHA-256 of all that decides how it plays: sources, command, build, variables."""
    executable: str
    """The file behind the first word, links resolved, for the record."""
    trusted: bool
    """Whether the tournament's configuration vouches for it."""
    rights: Rights = Rights()
    """What the tournament grants it."""
