"""The ranking table and all its claims, computed from deals."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import ceil, erfc, floor, log10, sqrt
from statistics import NormalDist, median
from typing import TYPE_CHECKING

import numpy as np

from tourney_runner.ratings.certainty import (
    Z,
    best_probabilities,
    rank_ranges,
    scores_of_pairs,
    t_quantile,
)
from tourney_runner.ratings.model import Model, Rating, average_places
from tourney_runner.ratings.raters import rater
from tourney_runner.ratings.table import LEAST_MATCHES, Adjacent, Interval, Standing, Standings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tourney_runner.ratings.model import Deal
    from tourney_runner.ratings.raters import Estimate, Update
    from tourney_runner.ratings.table import Anchor, RankBy, Status

    Floats = NDArray[np.float64]

__all__ = ["Scoreboard", "standings"]

_SURE = 0.975
"""The likelihood of superiority from which two adjacent bots are no longer too close to call."""
_HOPELESS = 1000
"""Bots that only a schedule longer by this factor could separate count as equal."""
_erfc = np.frompyfunc(erfc, 1, 1)
_DIGITS = 7
"""Digits of intervals, relative to the prior's sigma. The rest is rounding, which may depend on the
machine.
"""


class _Record:
    """The counts of one entrant."""

    __slots__ = (
        "deals",
        "faults",
        "forfeits",
        "last_match",
        "matches",
        "place_sum",
        "places",
        "points",
    )

    def __init__(self) -> None:
        self.deals = 0
        self.matches = 0
        self.last_match = -1
        self.points = 0.0
        self.place_sum = 0.0
        self.places: Counter[int] = Counter()
        self.faults: Counter[str] = Counter()
        self.forfeits = 0


class Scoreboard:
    """A table under construction, which counts and rates deals as they are added.

    It stores the finishing order and the match of every deal, 4 bytes a player and 4 more.

    Args:
        names: The entrants' names, by number.
        model: The constants of the rating.
        update: The rating method.
        rank_by: The value by which bots are ranked.
        references: Entrants that are not ranked.
        disqualified: Entrants that are out of the table; none of the added deals includes them.
        checkpoints: The folder for checkpoints of ``sequential`` ratings, see `raters.rater`.
        anchor: The entrant whose rating is fixed. Deals only show differences of skills, so this
            shifts all ratings alike and changes no rank and no probability.
    """

    def __init__(  # noqa: PLR0913 - all but the names have their defaults
        self,
        names: Sequence[str],
        model: Model | None = None,
        update: Update = "order_free",
        *,
        rank_by: RankBy = "estimate",
        references: Collection[int] = (),
        disqualified: Collection[int] = (),
        checkpoints: Path | None = None,
        anchor: Anchor | None = None,
    ) -> None:
        self._names = tuple(names)
        self._anchor = anchor
        self._connected = list(range(len(self._names)))
        """Another entrant that each is connected with by deals, or itself; only for the anchor."""
        self._model = model or Model()
        self._rank_by = rank_by
        self._references = frozenset(references)
        self._disqualified = frozenset(disqualified)
        self._records = [_Record() for _ in names]
        self._rater = rater(update, self._model, len(self._names), checkpoints)
        self._deals = 0
        self._players = 0
        self._matches = 0
        self._rounds = 0
        self._last_match: tuple[int, int] | None = None

    def add(self, deal: Deal) -> None:
        """Add a deal. The deals of a match must be consecutive, as in the schedule."""
        round_number, match, _ = deal.key
        if self._last_match != (round_number, match):
            self._last_match = round_number, match
            self._matches += 1
            self._rounds = max(self._rounds, round_number + 1)
        self._deals += 1
        self._players = max(self._players, len(deal.seating))
        averages = average_places(deal.places)
        rows = zip(deal.seating, deal.places, averages, deal.points, strict=True)
        for entrant, place, average, points in rows:
            record = self._records[entrant]
            record.deals += 1
            record.matches += record.last_match != self._matches
            record.last_match = self._matches
            record.points += points
            record.place_sum += average
            record.places[place] += 1
        for fault in deal.faults:
            if fault.unplayed:
                self._records[fault.entrant].forfeits += 1
            else:
                self._records[fault.entrant].faults[fault.kind] += 1
        if self._anchor is not None:
            parts = {self._part(entrant) for entrant in deal.seating}
            for part in parts:
                self._connected[part] = min(parts)
        self._rater.add(deal, self._matches - 1)

    @property
    def entrants(self) -> int:
        """The number of entrants."""
        return len(self._names)

    def matches(self) -> list[int]:
        """Return the number of independent matches of each entrant so far."""
        return [record.matches for record in self._records]

    def intervals(self) -> tuple[list[Rating], list[Interval | None]]:
        """Return the ratings after the deals so far, and their intervals as in the table."""
        estimate = self._estimate()
        return estimate.ratings, self._intervals(estimate)

    def standings(self) -> Standings:
        """Return the table after the deals so far."""
        estimate = self._estimate()
        statuses, least = self._statuses()
        scores = scores_of_pairs(
            [rating.mu for rating in estimate.ratings],
            estimate.covariance,
            self.matches(),
        )
        order, ranks = self._ranking(estimate.ratings, statuses)
        rows = self._rows(estimate, statuses, scores, ranks)
        known = [entrant for entrant in order if rows[entrant].rank_range is not None]
        return Standings(
            deals=self._deals,
            matches=self._matches,
            entrants=tuple(rows[entrant] for entrant in order),
            rank_by=self._rank_by,
            anchor=self._anchor if self._anchor_in_force is not None else None,
            converged=estimate.converged,
            too_little_data=not known,
            provisional_below=least,
            too_close=self._too_close(
                [entrant for entrant in known if statuses[entrant] == "ranked"], rows, scores
            ),
            superiority=tuple(map(tuple, _normal(scores))),
        )

    @property
    def _anchor_in_force(self) -> int | None:
        """The number of the anchor; None if there is none, or none of its deals count."""
        if self._anchor is None:
            return None
        number = self._names.index(self._anchor.name)
        return number if self._records[number].deals else None

    def _part(self, entrant: int) -> int:
        """Return the lowest entrant of the part of the field that is connected with an entrant."""
        while self._connected[entrant] != entrant:
            entrant = self._connected[entrant]
        return entrant

    def _estimate(self) -> Estimate:
        estimate = self._rater.estimate()
        return estimate._replace(ratings=self._shifted(estimate.ratings))

    def _shifted(self, ratings: list[Rating]) -> list[Rating]:
        """Return ratings on the scale of the anchor."""
        anchor = self._anchor_in_force
        if anchor is None or self._anchor is None:
            return ratings
        shift, digits = self._anchor.mu - ratings[anchor].mu, self._digits
        return [Rating(round(one.mu + shift, digits), one.sigma) for one in ratings]

    @property
    def _digits(self) -> int:
        return _DIGITS - floor(log10(self._model.sigma))

    def _statuses(self) -> tuple[list[Status], int]:
        """Return each entrant's status, and the least number of matches that is not provisional."""
        counts = [
            record.matches
            for entrant, record in enumerate(self._records)
            if entrant not in self._references | self._disqualified
        ]
        least = max(LEAST_MATCHES, ceil(median(counts) / 2) if counts else 0)
        mark = any(count >= least for count in counts)

        def status(entrant: int) -> Status:
            if entrant in self._disqualified:
                return "disqualified"
            if entrant in self._references:
                return "reference"
            few = self._records[entrant].matches < least
            return "provisional" if mark and few else "ranked"

        return [status(entrant) for entrant in range(len(self._names))], least

    def _ranking(
        self, ratings: list[Rating], statuses: list[Status]
    ) -> tuple[list[int], dict[int, int]]:
        """Return the entrants in the order of the table, and their ranks."""
        values = [rating.mu if self._rank_by == "estimate" else rating.score for rating in ratings]

        def below(entrant: int) -> int:
            if statuses[entrant] == "provisional" and self._rank_by == "estimate":
                return 1
            return 2 if statuses[entrant] == "disqualified" else 0

        order = sorted(
            range(len(values)),
            key=lambda entrant: (below(entrant), -values[entrant], self._names[entrant]),
        )
        keys = {entrant: (below(entrant), -values[entrant]) for entrant in order}
        counted = [keys[entrant] for entrant in order if statuses[entrant] != "reference"]
        last = 1 + sum(status in {"ranked", "provisional"} for status in statuses)
        return order, {
            entrant: last
            if statuses[entrant] == "disqualified"
            else 1 + sum(key < keys[entrant] for key in counted)
            for entrant in order
        }

    def _rows(
        self, estimate: Estimate, statuses: list[Status], scores: Floats, ranks: dict[int, int]
    ) -> list[Standing]:
        """Return the rows by entrant number."""
        known = [
            entrant
            for entrant, record in enumerate(self._records)
            if statuses[entrant] != "disqualified" and record.matches >= LEAST_MATCHES
        ]
        ranges = dict(zip(known, rank_ranges(scores[np.ix_(known, known)]), strict=True))
        rated = [entrant for entrant in known if statuses[entrant] != "reference"]
        best = dict(
            zip(
                rated,
                best_probabilities(
                    [estimate.ratings[entrant].mu for entrant in rated],
                    estimate.covariance[np.ix_(rated, rated)],
                ),
                strict=True,
            )
        )
        played = [
            rating.mu
            for rating, record in zip(estimate.ratings, self._records, strict=True)
            if record.deals
        ]
        average = sum(played) / len(played) if played else self._model.mu
        intervals = self._intervals(estimate)
        return [
            self._standing(
                entrant,
                rank=ranks[entrant],
                status=statuses[entrant],
                rating=estimate.ratings[entrant],
                interval=intervals[entrant],
                rank_range=ranges.get(entrant),
                best=best.get(entrant),
                average=average,
            )
            for entrant, rating in enumerate(estimate.ratings)
        ]

    def _intervals(self, estimate: Estimate) -> list[Interval | None]:
        """Return the intervals of mu by entrant.

        They are relative to the mean of the field, or to the anchor: the error of a difference has
        the variance V(a) + V(b) - 2 V(a, b), and as many degrees of freedom as the bot with fewer
        matches gives.
        """
        errors, anchor = estimate.covariance, self._anchor_in_force
        variances = np.diag(errors)
        matches = self.matches()
        if anchor is not None:
            variances = np.maximum(variances + errors[anchor, anchor] - 2 * errors[anchor], 0.0)
            matches = [
                min(count, matches[anchor]) if self._part(entrant) == self._part(anchor) else 0
                for entrant, count in enumerate(matches)
            ]
        return [
            None
            if count < LEAST_MATCHES or entrant in self._disqualified
            else self._interval(rating.mu, t_quantile(count - 1) * sqrt(variance))
            for entrant, (rating, count, variance) in enumerate(
                zip(estimate.ratings, matches, variances.tolist(), strict=True)
            )
        ]

    def _interval(self, mu: float, reach: float) -> Interval:
        return Interval(round(mu - reach, self._digits), round(mu + reach, self._digits))

    def _standing(  # noqa: PLR0913 - the claims about one entrant
        self,
        entrant: int,
        *,
        rank: int,
        status: Status,
        rating: Rating,
        interval: Interval | None,
        rank_range: tuple[int, int] | None,
        best: float | None,
        average: float,
    ) -> Standing:
        record = self._records[entrant]
        luck = NormalDist(0, sqrt(2) * self._model.beta)
        return Standing(
            rank=rank,
            name=self._names[entrant],
            status=status,
            rank_range=rank_range,
            mu=rating.mu,
            sigma=rating.sigma,
            interval=interval,
            score=rating.score,
            best=None if best is None else round(best, 4),
            ahead_of_average=round(luck.cdf(rating.mu - average), 4),
            matches=record.matches,
            deals=record.deals,
            points=record.points,
            mean_place=record.place_sum / record.deals if record.deals else None,
            places=tuple(record.places[place + 1] for place in range(self._players)),
            faults=dict(sorted(record.faults.items())),
            forfeits=record.forfeits,
        )

    def _too_close(
        self, order: list[int], rows: list[Standing], scores: Floats
    ) -> tuple[Adjacent, ...]:
        found = []
        for upper, lower in pairwise(order):
            score = float(scores[upper, lower])
            superiority = NormalDist().cdf(score)
            if superiority < _SURE:
                found.append(
                    Adjacent(
                        above=rows[upper].name,
                        below=rows[lower].name,
                        superiority=round(superiority, 4),
                        more_rounds=self._more_rounds(score),
                    )
                )
        return tuple(found)

    def _more_rounds(self, score: float) -> int | None:
        """Return the rounds until the score reaches Z, given that errors shrink with their root."""
        if score <= 0:
            return None
        factor = (Z / score) ** 2
        return max(1, ceil(self._rounds * (factor - 1))) if factor <= _HOPELESS else None


def _normal(scores: Floats) -> list[list[float]]:
    """Return the normal distribution function of each entry."""
    shares = 0.5 * np.asarray(_erfc(scores * -sqrt(0.5)), dtype=np.float64)
    rounded: list[list[float]] = np.round(shares, 6).tolist()
    return rounded


def standings(  # noqa: PLR0913 - all but the first two have their defaults
    names: Sequence[str],
    deals: Iterable[Deal],
    model: Model | None = None,
    update: Update = "order_free",
    *,
    rank_by: RankBy = "estimate",
    references: Collection[int] = (),
    disqualified: Collection[int] = (),
    anchor: Anchor | None = None,
) -> Standings:
    """Return the table of finished deals, in one pass over them.

    Args:
        names: The entrants' names, by number.
        deals: The deals, in schedule order.
        model: The constants of the rating.
        update: The rating method.
        rank_by: The value by which bots are ranked.
        references: Entrants that are not ranked.
        disqualified: Entrants that are out of the table.
        anchor: The entrant whose rating is fixed.
    """
    board = Scoreboard(
        names,
        model,
        update,
        rank_by=rank_by,
        references=references,
        disqualified=disqualified,
        anchor=anchor,
    )
    for deal in deals:
        board.add(deal)
    return board.standings()
