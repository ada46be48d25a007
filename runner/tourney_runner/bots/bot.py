"""The `Bot` value: a staged bot, as it is passed to workers and stored with results."""

from __future__ import annotations

import msgspec

from tourney_runner.process.launcher import Rights

__all__ = ["ALGORITHM", "Bot"]

ALGORITHM = "tree2-sha256"
"""The name of the hash of a bot: SHA-256 of its files, by the second rule for what is a file of a
bot, and of its command, build, variables and programs. The first rule, whose hashes have no name,
left out only ``.git`` and compiled Python, and counted what editors and systems leave behind.
"""


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
    """A hash of everything that affects its play: sources, command, build and variables.

    The name of the algorithm comes first, see `ALGORITHM`. Earlier versions stored none.
    """
    executable: str
    """The file behind the first word of the command, with links resolved. Only recorded."""
    trusted: bool
    """Whether the tournament's configuration marks it as trusted."""
    rights: Rights = Rights()
    """Permissions that the tournament grants it."""

    @property
    def digits(self) -> str:
        """The hash without the name of its algorithm."""
        return self.hash.rpartition(":")[2]
