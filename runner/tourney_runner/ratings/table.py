"""The values of a ranking table: plain data that can be stored and shown without computing."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

__all__ = [
    "LEAST_MATCHES",
    "Adjacent",
    "Anchor",
    "Interval",
    "RankBy",
    "Standing",
    "Standings",
    "Status",
]

RankBy = Literal["estimate", "score"]
"""Rank by mu, or by mu - 3 sigma."""
Status = Literal["ranked", "provisional", "reference", "disqualified"]
"""``provisional``: too few matches for a rank among the others. ``reference``: measured against the
field but not ranked in it, like the challengers of a gauntlet.
"""

LEAST_MATCHES = 10
"""Independent matches that a bot needs before anything is claimed about it."""


class Interval(NamedTuple):
    """A closed interval."""

    low: float
    high: float


class Anchor(msgspec.Struct, frozen=True):
    """A bot whose rating is fixed, so that tables of several tournaments share a scale."""

    name: str
    mu: float
    """The rating that it has by definition."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table."""

    rank: int
    """From 1; equal values share a rank. A reference has the rank that it would have if it were
    ranked.
    """
    name: str
    status: Status
    rank_range: tuple[int, int] | None
    """The ranks that it may have, see `certainty.rank_ranges`; None with too few matches."""
    mu: float
    sigma: float
    interval: Interval | None
    """The 95 % interval of mu; None with too few matches. It is relative to the mean of the field,
    or to the anchor if there is one, whose own interval then has no width.
    """
    score: float
    """mu - 3 sigma."""
    best: float | None
    """The probability that it is the best of the ranked bots; None if it is not ranked or has too
    few matches.
    """
    ahead_of_average: float
    """The expected share of deals in which it finishes ahead of an average bot of the field."""
    matches: int
    """The number of independent matches: all rotations of the same cards are one match."""
    deals: int
    points: float
    mean_place: float | None
    """Tied bots count the average of their places; None before the first deal."""
    places: tuple[int, ...]
    """places[i] counts place i + 1; tied bots take the best place of their group."""
    faults: dict[str, int]
    """The number of faults of each kind; kinds that did not occur are left out."""
    forfeits: int = 0
    """Deals that it forfeited unplayed while it was benched; they do not count as faults."""


class Adjacent(msgspec.Struct, frozen=True, kw_only=True):
    """Two neighbours in the table that are too close to call."""

    above: str
    below: str
    superiority: float
    """The likelihood that the upper one is stronger."""
    more_rounds: int | None
    """About how many more rounds would separate them with even odds, if the estimated difference is
    right; None if it is too small.
    """


class Standings(msgspec.Struct, frozen=True, kw_only=True):
    """The table. Rows are ordered by status and rank, within a rank by name."""

    deals: int
    matches: int
    entrants: tuple[Standing, ...]
    rank_by: RankBy
    anchor: Anchor | None
    """The anchor of the ratings; None if there is none, or none of its deals count."""
    converged: bool
    """Whether the ratings had converged when the fit ended."""
    too_little_data: bool
    """Whether no bot has enough matches for claims."""
    provisional_below: int
    """Bots with fewer matches are provisional, unless all are."""
    too_close: tuple[Adjacent, ...]
    """Adjacent ranked bots, from the top of the table."""
    superiority: tuple[tuple[float, ...], ...]
    """superiority[a][b] is the likelihood that a is stronger than b, by entrant number."""
