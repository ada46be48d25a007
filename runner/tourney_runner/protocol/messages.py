"""The messages between the runner and a bot: JSON objects, one a line, UTF-8.

The runner writes `Hello`, `Deal`, `Move` and `Result`; a bot writes one `Ready` and then one
`games.base.Answer` for each `Move`. Fields may be added within a protocol version. Both sides
ignore fields that they do not know, and bots ignore message types that they do not know.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = ["VERSION", "Deal", "Hello", "Limits", "Move", "MoveTime", "Ready", "Result"]

VERSION = 1


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a bot may use; times in milliseconds."""

    start: int
    """From the start of the process to ``ready``."""
    move: int
    """For one answer."""
    bank: int
    """Extra time for a whole deal, drawn on by moves that take longer than `move`."""
    output: int
    """Bytes of stdout for one move."""
    deal_output: int
    """Bytes of stdout for all moves of a deal."""
    memory: int | None = None
    """Bytes of memory for the process and its children; left out where there is no limit."""


class Hello(msgspec.Struct, frozen=True, tag_field="type", tag="hello", omit_defaults=True):
    """The first message to a process; it wants a `Ready`."""

    protocol: int
    """The version of the protocol, 1; fields may be added without changing it."""
    game: str
    """``tienlen`` or ``speahx``."""
    rules: dict[str, Any]
    """Every rule in force, none left to a default."""
    limits: Limits
    """What the bot may use."""


class Deal(msgspec.Struct, frozen=True, tag_field="type", tag="deal", omit_defaults=True):
    """New cards; needs no answer."""

    seat: int
    """The bot's own seat, from 0; the next seat clockwise is seat + 1."""
    players: int
    """How many sit at the table."""
    hand: tuple[str, ...]
    """The bot's own cards."""
    leader: int | None
    """Who acts first; null when the deal is decided before anybody acts."""
    seed: int
    """For the bot's own randomness, below 2**53. The cards come from another branch of the seed."""
    names: tuple[str, ...] | None = None
    """The bots' names by seat, only with ``reveal_names``."""


class MoveTime(msgspec.Struct, frozen=True):
    """The clock of one move, in milliseconds."""

    move: int
    """For this answer."""
    bank: int
    """What is left of the deal's extra time."""


# No reference leads back to a move or an answer, so the garbage collector need not look at them.
class Move(msgspec.Struct, frozen=True, tag_field="type", tag="move", omit_defaults=True, gc=False):
    """It is the bot's turn; it wants an answer with the same id."""

    id: int
    """The number of the request; no other request of the same deal has it."""
    view: msgspec.Struct
    """The game's observation: everything needed to answer without memory."""
    events: list[msgspec.Raw]
    """What has happened since this bot's last turn, the game's events, oldest first."""
    time: MoveTime
    """The clock."""
    legal: list[msgspec.Raw] | None = None
    """Answers without their id, if the bot asked for them in `Ready`."""
    legal_complete: bool = True
    """False where answers are left out of the list."""
    legal_reason: str | None = None
    """Why some are left out, in words; left out where the list is complete."""


class Result(msgspec.Struct, frozen=True, tag_field="type", tag="result", omit_defaults=True):
    """The deal is over; needs no answer."""

    places: tuple[int, ...]
    """By seat, from 1; tied seats share the best place."""
    points: tuple[float, ...]
    """By seat."""
    events: list[msgspec.Raw]
    """What has happened since this bot's last turn."""


class Ready(msgspec.Struct, frozen=True, tag_field="type", tag="ready", omit_defaults=True):
    """The bot's reply to `Hello`."""

    name: str = ""
    """What the bot calls itself; free text."""
    version: str = ""
    """Free text."""
    legal: Literal["none", "canonical", "all"] = "none"
    """Whether each `Move` should list the legal answers."""
