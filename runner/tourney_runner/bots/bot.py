"""The `Bot` value: a staged bot, as it is passed to workers and stored with results."""

from __future__ import annotations

import msgspec

from tourney_runner.process.launcher import Rights

__all__ = ["Bot"]


class Bot(msgspec.Struct, frozen=True, kw_only=True):
    """A staged bot."""

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
    """The SHA-256 of everything that affects its play: sources, command, build and variables."""
    executable: str
    """The file behind the first word of the command, with links resolved. Only recorded."""
    trusted: bool
    """Whether the tournament's configuration marks it as trusted."""
    rights: Rights = Rights()
    """Permissions that the tournament grants it."""
