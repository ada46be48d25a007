"""The audit of a results folder."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import msgspec

from tourney_runner.audit.conduct import Conduct, ThinkingTime, VoidShare
from tourney_runner.audit.result_checks import (
    SURE,
    Friend,
    PairScore,
    SeatScore,
    Transitivity,
    friends,
    pair_scores,
    seat_scores,
    transitivity,
)
from tourney_runner.audit.score_residuals import DealColumns
from tourney_runner.ratings.model import Model
from tourney_runner.results.rulings import counting_deals
from tourney_runner.results.store import FILE_NAME, Store
from tourney_runner.text import counted, milliseconds

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Audit", "audit", "audit_lines"]

_PAIRS_SHOWN = 5


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """All checks of a tournament, those that stand out first."""

    name: str
    deals: int
    """Those that count."""
    friends: tuple[Friend, ...]
    seats: tuple[SeatScore, ...]
    pairs: tuple[PairScore, ...]
    transitivity: Transitivity
    voids: tuple[VoidShare, ...]
    times: tuple[ThinkingTime, ...]


def audit(folder: Path) -> Audit:
    """Check the deals of a results folder that count.

    Args:
        folder: The results.

    Raises:
        UsageError: There are no results.
        DamageError: They are damaged.
    """
    with closing(Store(folder / FILE_NAME)) as store:
        record = store.about()
        names = record.names
        columns = DealColumns(Model(**record.rating), len(names))
        conduct = Conduct(names)
        declared = {void.record.key for void in store.voids()}
        deals = 0
        for number, deal in counting_deals(store):
            columns.add(deal)
            conduct.add(number, deal, void=deal.key in declared)
            deals += 1
    residuals = columns.residuals()
    return Audit(
        name=record.name,
        deals=deals,
        friends=tuple(friends(residuals, names)),
        seats=tuple(seat_scores(residuals)),
        pairs=tuple(pair_scores(residuals, names)),
        transitivity=transitivity(residuals, names),
        voids=tuple(conduct.void_shares()),
        times=tuple(conduct.thinking_times()),
    )


def audit_lines(found: Audit) -> list[str]:
    """Return an audit as text, one section after the other."""
    return [
        f"{found.name}: audit of {counted(found.deals, 'deal')}, for the organiser only",
        "A score is the share of opponents that a bot finishes ahead of; +- is one standard error.",
        *_section("Bots that may lose for another", _friend_lines(found.friends)),
        *_section("Seats", _seat_lines(found.seats)),
        *_section("Scores of pairs, against those that the ratings expect", _pair_lines(found)),
        *_section("Void deals", _void_lines(found.voids)),
        *_section("Thinking times a move", [_time_line(one) for one in found.times]),
    ]


def _section(title: str, lines: list[str]) -> list[str]:
    return ["", title, *(f"  {line}" for line in lines or ["no bot was asked for a move"])]


def _friend_lines(found: tuple[Friend, ...]) -> list[str]:
    if not found:
        return ["too few matches, or every bot always meets the same others"]
    lines = [f"LOOK: {_friend_line(one)}; p = {one.p:.2g}" for one in found if one.p <= SURE]
    none = f"none of {counted(len(found), 'pair')} stands out; most unusual: "
    return lines or [f"{none}{_friend_line(found[0])}"]


def _friend_line(one: Friend) -> str:
    return (
        f"{one.bot} gains {one.gain:.3f} and {one.beside} loses {one.loss:.3f} where both sit"
        f" (sum +- {one.error:.3f}), in {counted(one.matches, 'match', 'matches')}"
    )


def _seat_lines(found: tuple[SeatScore, ...]) -> list[str]:
    if not found:
        return ["too few matches"]
    return [
        f"{_mark(one.p)}seat {one.seat} of {one.players}: {one.advantage:+.3f} +- {one.error:.3f}"
        for one in found
    ]


def _pair_lines(found: Audit) -> list[str]:
    if not found.pairs:
        return ["too few matches"]
    lines = [
        f"{_mark(one.p)}{one.bot} against {one.opponent}: {one.observed:.3f}, expected"
        f" {one.expected:.3f} +- {one.error:.3f}"
        for one in found.pairs[:_PAIRS_SHOWN]
    ]
    if more := len(found.pairs) - len(lines):
        lines.append(f"and {counted(more, 'pair')} that deviate less")
    spread = found.transitivity.spread
    if spread is not None:
        lines.append(f"spread of all pairs: {spread:.2f} (1 where one strength a bot explains all)")
    lines += [
        f"cycle: {a} beats {b}, {b} beats {c}, {c} beats {a}"
        for a, b, c in found.transitivity.cycles[:_PAIRS_SHOWN]
    ]
    if (more := len(found.transitivity.cycles) - _PAIRS_SHOWN) > 0:
        lines.append(f"and {counted(more, 'cycle')}")
    return lines


def _void_lines(found: tuple[VoidShare, ...]) -> list[str]:
    lines = [
        f"{_mark(one.p)}{one.bot}: in {one.void} of {counted(one.matches, 'match', 'matches')},"
        f" expected {one.expected:.1f}"
        for one in found
        if one.void
    ]
    return lines or ["none"]


def _time_line(one: ThinkingTime) -> str:
    line = (
        f"{one.bot}: median {milliseconds(one.median)}, longest answer {milliseconds(one.longest)}"
    )
    if one.outliers:
        slowest = ", ".join(
            f"deal {slow.deal} ({milliseconds(slow.milliseconds)})" for slow in one.slowest
        )
        line += f"; far slower in {counted(one.outliers, 'deal')}: {slowest}"
    return line


def _mark(p: float) -> str:
    return "LOOK: " if p <= SURE else ""
