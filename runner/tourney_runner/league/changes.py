"""The changes of a table since the last run, short enough for a chat message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tourney_runner.text import counted, without_controls

if TYPE_CHECKING:
    from tourney_runner.publish.summary import Summary

__all__ = ["Changes", "Move", "NewFaults", "Seen", "changes", "seen", "text"]

_LINES = 20
"""The number of lines of each kind in a message; the rest is counted."""


class Seen(msgspec.Struct, frozen=True):
    """The part of a table that changes are computed from."""

    deals: int
    ranks: dict[str, int]
    """The ranks of bots that have played and are not disqualified."""
    faults: dict[str, dict[str, int]]
    """The number of faults by bot and kind."""
    rulings: dict[str, str]
    """The kind of the decision about each bot that has one."""


class Move(msgspec.Struct, frozen=True):
    """A bot whose rank has changed."""

    name: str
    before: int | None
    """None for a bot that is new in the table."""
    after: int | None
    """None for a bot that is no longer in it."""


class NewFaults(msgspec.Struct, frozen=True):
    """Faults of one kind that were not there before."""

    name: str
    kind: str
    count: int


class Changes(msgspec.Struct, frozen=True):
    """All changes."""

    tournament: str
    deals: int
    """The number of new deals."""
    leader: str | None
    """The first bot by name at rank 1."""
    tied: int
    """The number of other bots at that rank."""
    moves: tuple[Move, ...]
    faults: tuple[NewFaults, ...]
    rulings: dict[str, str]
    """New decisions by bot; ``taken back`` for those that no longer hold."""


def seen(summary: Summary) -> Seen:
    """Return what to store of a table for the next comparison."""
    out = {ruling.name for ruling in summary.rulings if ruling.kind == "disqualified"}
    return Seen(
        deals=summary.deals,
        ranks={row.name: row.rank for row in summary.entrants if row.deals and row.name not in out},
        faults={row.name: row.faults for row in summary.entrants if row.faults},
        rulings={ruling.name: ruling.kind for ruling in summary.rulings},
    )


def changes(before: Seen | None, summary: Summary) -> Changes:
    """Compare a table with the one seen before, if there was one."""
    old, new = before or Seen(0, {}, {}, {}), seen(summary)
    names = [row.name for row in summary.entrants]
    first = [name for name in names if new.ranks.get(name) == 1]
    moves = (Move(name, old.ranks.get(name), new.ranks.get(name)) for name in names)
    faults = (
        NewFaults(name, kind, count - old.faults.get(name, {}).get(kind, 0))
        for name in names
        for kind, count in new.faults.get(name, {}).items()
    )
    return Changes(
        tournament=summary.facts.name,
        deals=new.deals - old.deals,
        leader=first[0] if first else None,
        tied=max(0, len(first) - 1),
        moves=tuple(move for move in moves if move.before != move.after),
        faults=tuple(fault for fault in faults if fault.count > 0),
        rulings={
            name: new.rulings.get(name, "taken back")
            for name in sorted(old.rulings.keys() | new.rulings.keys())
            if old.rulings.get(name) != new.rulings.get(name)
        },
    )


def text(news: Changes) -> str:
    """Return the changes as a few lines of text."""
    if not (news.deals or news.moves or news.faults or news.rulings):
        return f"{without_controls(news.tournament)}: nothing new"
    sign = "no new deals" if not news.deals else f"{counted(abs(news.deals), 'deal')}"
    verb = "" if not news.deals else (" more" if news.deals > 0 else " fewer")
    head = f"{without_controls(news.tournament)}: {sign}{verb}"
    shared = f" with {counted(news.tied, 'other')}" if news.tied else ""
    lines = [
        head if news.leader is None else f"{head}; {without_controls(news.leader)} leads{shared}"
    ]
    lines += _cut([_move(move) for move in news.moves])
    lines += _cut(
        [
            f"{without_controls(fault.name)}: {counted(fault.count, 'new fault')} ({fault.kind})"
            for fault in news.faults
        ]
    )
    lines += [f"{without_controls(name)}: {kind}" for name, kind in news.rulings.items()]
    return "\n".join(lines)


def _move(move: Move) -> str:
    name = without_controls(move.name)
    if move.before is None:
        return f"{name}: new, at rank {move.after}"
    if move.after is None:
        return f"{name}: out, was at rank {move.before}"
    way = "up" if move.after < move.before else "down"
    return f"{name}: {way} from {move.before} to {move.after}"


def _cut(lines: list[str]) -> list[str]:
    more = len(lines) - _LINES
    return [*lines[:_LINES], f"and {more} more"] if more > 0 else lines
