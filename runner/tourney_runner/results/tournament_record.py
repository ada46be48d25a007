"""What a tournament is, kept beside its deals: the part that is asked for after the run.

A run keeps all of it as JSON values, and compares them when it is continued.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from tourney_runner.errors import UsageError
from tourney_runner.process.launcher import Rights
from tourney_runner.process.sandbox import Mode

if TYPE_CHECKING:
    from tourney_runner.results.store import Store

__all__ = ["Identity", "Joined", "identity_if_begun", "kept_identity"]


class Joined(msgspec.Struct, frozen=True):
    """A bot that has joined."""

    number: int
    """Of the entrant, from 0."""
    hash: str
    """SHA-256 of all that decides how it plays."""
    team: str | None = None
    rights: Rights | None = None
    """What it was granted; None where an earlier version did not keep that."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """What was played, and who has joined."""

    rules: dict[str, Any]
    schedule: dict[str, Any]
    """The format under ``format``, and its options but for the rounds."""
    rounds: int | None
    """None for a format that has no such option."""
    clock: Literal["fair", "wall"]
    sandbox: Mode = "auto"
    """As configured; earlier versions did not keep it."""
    bots: dict[str, Joined]
    """By name."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the bots, by number."""
        return tuple(sorted(self.bots, key=lambda name: self.bots[name].number))


def kept_identity(store: Store) -> Identity:
    """What a results file says its tournament is.

    Raises:
        UsageError: None was begun there, or a person has played there.
    """
    kept = store.kept("identity", dict[str, Any])
    if "schedule" not in kept:
        raise UsageError(
            f"{store.path}: the deals here are of a person's table (`tourney play`), which is no"
            " tournament; give another folder"
        )
    return msgspec.convert(kept, Identity)


def identity_if_begun(store: Store) -> Identity | None:
    """What a results file says its tournament is; None before one was begun there.

    Raises:
        UsageError: A person has played there.
    """
    return None if store.meta("identity") is None else kept_identity(store)
