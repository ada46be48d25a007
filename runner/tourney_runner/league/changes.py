"""What has changed since somebody looked last, short enough for a message in a chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tourney_runner.text import counted, without_controls

if TYPE_CHECKING:
    from tourney_runner.publish.summary import Summary

__all__ = ["Changes", "Move", "NewFaults", "Seen", "changes", "seen", "text"]

_LINES = 20
"""Of each kind that a message has; the rest is counted."""


class Seen(msgspec.Struct, frozen=True):
    """A table as far as changes are told."""

    deals: int
    ranks: dict[str, int]
    """Of those that have played and are not disqualified."""
    faults: dict[str, dict[str, int]]
    """How many of each kind, by bot."""
    rulings: dict[str, str]
    """What is decided about bots."""


class Move(msgspec.Struct, frozen=True):
    """A bot that stands elsewhere than before."""

    name: str
    before: int | None
    """None for one that is new in the table."""
    after: int | None
    """None for one that is in it no more."""


class NewFaults(msgspec.Struct, frozen=True):
    """Faults of one kind that were not there before."""

    name: str
    kind: str
    count: int


class Changes(msgspec.Struct, frozen=True):
    """All of it."""

    tournament: str
    deals: int
    """That are new."""
    leader: str | None
    """The first by name of those at rank 1."""
    tied: int
    """How many others share that rank."""
    moves: tuple[Move, ...]
    faults: tuple[NewFaults, ...]
    rulings: dict[str, str]
    """Decisions that are new; ``taken back`` for those that do not hold any more."""


def seen(summary: Summary) -> Seen:
    """What to remember of a table."""
    out = {ruling.name for ruling in summary.rulings if ruling.kind == "disqualified"}
    return Seen(
        deals=summary.deals,
        ranks={row.name: row.rank for row in summary.entrants if row.deals and row.name not in out},
        faults={row.name: row.faults for row in summary.entrants if row.faults},
        rulings={ruling.name: ruling.kind for ruling in summary.rulings},
    )


def changes(before: Seen | None, summary: Summary) -> Changes:
    """Compare a table with what was seen before, if anything was."""
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
    """The changes as a few plain lines."""
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
