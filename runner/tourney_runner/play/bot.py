"""The `Bot` value: a bot that is ready to be started, as workers get it."""

from __future__ import annotations

import msgspec

from tourney_runner.process.launcher import Program, Rights
from tourney_runner.results.tournament_record import EntrantFacts, EntrantRecord, OwnTime

__all__ = ["Bot"]


class Bot(EntrantFacts, frozen=True, kw_only=True):
    """A staged bot, or a player inside this program, which has only a number and a name."""

    command: tuple[str, ...] = ()
    """The first word is the absolute path of the program, not of a version manager's shim."""
    folder: str = ""
    """The read-only copy of its sources, built; absolute."""
    env: dict[str, str] = msgspec.field(default_factory=dict)
    """Variables that the tournament gives it. They may be secret, so they are not stored."""
    rights: Rights = Rights()
    """Permissions that the tournament grants it."""
    trusted: bool = False
    """Whether the tournament's configuration marks it as trusted."""

    @property
    def program(self) -> Program:
        """The program to start."""
        return Program(self.command, self.folder, tuple(self.env.items()), self.rights)

    def record(self, team: str | None = None, time: OwnTime | None = None) -> EntrantRecord:
        """Return the part of it that is stored with results, with its settings in a tournament."""
        return EntrantRecord(**self.facts, rights=self.rights, team=team, time=time)
