"""Results compared with those that the order-free ratings expect.

A bot's *score* in a deal is the share of its opponents that it finishes ahead of; ties count half.
A *residual* is a score less the expected one. The deals of a match depend on each other (the same
cards, the same company), so residuals are averaged over each match, and errors come from the
spread of whole matches.
"""

from __future__ import annotations

from array import array
from math import erfc
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tourney_runner.ratings.raters import OrderFreeRater

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tourney_runner.ratings.model import Deal, Model

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["DealColumns", "Moments", "ScoreResiduals"]

_CHUNK = 512
"""Matches at a time; bounds the memory."""

_LEAST_VARIANCE = 0.05
"""Of a result. A rare upset deviates by many of the errors that a nearly certain result has, so the
normal distribution would take it for proof."""
_CORRELATION = 1 / 3
"""Between the results of one bot against two equal opponents, and, below 0, between the scores of
two bots at a table of four."""

_erfc = np.frompyfunc(erfc, 1, 1)


class Moments:
    """Counts, sums and sums of squares of residuals, one a cell of an array.

    Args:
        shape: The shape of the array.
    """

    def __init__(self, *shape: int) -> None:
        self._shape = shape
        self.count: Floats = np.zeros(shape)
        self.total: Floats = np.zeros(shape)
        self.squares: Floats = np.zeros(shape)

    def add(self, cells: Integers, values: Floats) -> None:
        """Add values to the cells with the given flat indices."""
        cells, values = cells.ravel(), values.ravel()
        size = self.count.size
        self.count += np.bincount(cells, minlength=size).reshape(self._shape)
        self.total += np.bincount(cells, values, size).reshape(self._shape)
        self.squares += np.bincount(cells, values * values, size).reshape(self._shape)

    def means(self) -> Floats:
        """Return the mean of each cell; NaN where it is empty."""
        with np.errstate(invalid="ignore"):
            result: Floats = self.total / self.count
        return result

    def squared_errors(self) -> Floats:
        """Return the squared standard error of each mean; NaN below two values."""
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.maximum(self.squares - self.total**2 / self.count, 0)
            result: Floats = spread / (self.count - 1) / self.count
        return result


class ScoreResiduals(NamedTuple):
    """The residuals of a tournament, in matches."""

    pair: Moments
    """[bot, opponent]: the bot against that opponent alone, in matches of both."""
    bot: Moments
    """[bot]: against all opponents, in all of its matches."""
    beside: Moments
    """[bot, other]: the bot against all opponents, in the matches at which the other sat."""
    margin: Moments
    """[bot, other]: the bot's residual less the other's, in matches of both."""
    bot_variance: Floats
    beside_variance: Floats
    margin_variance: Floats
    """The sums of the variances of these residuals if each match were one deal."""
    seats: dict[int, Moments]
    """[seat], by the number of players."""
    expected: Floats
    """[bot, opponent]: the expected score against that opponent, the same in every match."""


class DealColumns:
    """Seatings and places of all deals, 8 bytes a player.

    Args:
        model: The constants of the ratings.
        entrants: How many there are.
    """

    def __init__(self, model: Model, entrants: int) -> None:
        self._model = model
        self._entrants = entrants
        self._rater = OrderFreeRater(model, entrants)
        self._seatings: dict[int, array[int]] = {}
        self._places: dict[int, array[int]] = {}
        self._matches: dict[int, array[int]] = {}
        self._last: tuple[int, int] | None = None
        self._match = -1

    def add(self, deal: Deal) -> None:
        """Take in a deal. The deals of a match must follow each other, as in the schedule."""
        if self._last != deal.key[:2]:
            self._last = deal.key[0], deal.key[1]
            self._match += 1
        players = len(deal.seating)
        self._rater.add(deal, self._match)
        self._seatings.setdefault(players, array("i")).extend(deal.seating)
        self._places.setdefault(players, array("i")).extend(deal.places)
        self._matches.setdefault(players, array("i")).append(self._match)

    def residuals(self) -> ScoreResiduals:
        """Rate the bots and return what the ratings do not explain."""
        size = self._entrants
        chances = self._chances()
        singles = np.maximum(chances * (1 - chances), _LEAST_VARIANCE)
        np.fill_diagonal(singles, 0)
        pair, bot, beside = Moments(size, size), Moments(size), Moments(size, size)
        margin, variances = Moments(size, size), Moments(size)
        beside_variances, margin_variances = Moments(size, size), Moments(size, size)
        seats = {}
        for players in sorted(self._seatings):
            seats[players] = Moments(players)
            for seating, ahead, ends in self._chunks(players):
                expected = chances[seating[:, :, np.newaxis], seating[:, np.newaxis, :]]
                _add_seats(seats[players], ahead - expected, ends)
                order = np.argsort(seating, axis=1)
                unexplained = _by_match(_rearranged(ahead - expected, order), ends)
                bots = np.take_along_axis(seating, order, axis=1)[ends[:-1]]
                one, other = np.nonzero(~np.eye(players, dtype=bool))
                cells = bots[:, one] * size + bots[:, other]
                pair.add(cells, unexplained[:, one, other])
                scores = unexplained.sum(axis=2) / (players - 1)
                bot.add(bots, scores)
                beside.add(cells, scores[:, one])
                margin.add(cells, scores[:, one] - scores[:, other])
                variance = _score_variances(singles[bots[:, :, np.newaxis], bots[:, np.newaxis, :]])
                both = variance[:, one] + variance[:, other]
                both += 2 * _CORRELATION * np.sqrt(variance[:, one] * variance[:, other])
                variances.add(bots, variance)
                beside_variances.add(cells, variance[:, one])
                margin_variances.add(cells, both)
        return ScoreResiduals(
            pair=pair,
            bot=bot,
            beside=beside,
            margin=margin,
            bot_variance=variances.total,
            beside_variance=beside_variances.total,
            margin_variance=margin_variances.total,
            seats=seats,
            expected=chances,
        )

    def _chunks(self, players: int) -> Iterator[tuple[Integers, Floats, Integers]]:
        """Yield seatings, [deal, one, other] whether one finished ahead, and where matches begin.

        The last value has one entry more than there are matches, the number of deals.
        """
        seatings = np.array(self._seatings[players], dtype=np.int64).reshape(-1, players)
        places = np.array(self._places[players], dtype=np.int64).reshape(-1, players)
        matches = np.array(self._matches[players], dtype=np.int64)
        starts = np.flatnonzero(np.diff(matches, prepend=-1))
        ends = np.append(starts, len(matches))
        for first in range(0, len(starts), _CHUNK):
            inner = ends[first : first + _CHUNK + 1]
            deals = slice(inner[0], inner[-1])
            here = places[deals]
            one, other = here[:, :, np.newaxis], here[:, np.newaxis, :]
            yield seatings[deals], (one < other) + 0.5 * (one == other), inner - inner[0]

    def _chances(self) -> Floats:
        """Return [one, other] how likely one is to finish ahead of the other."""
        mu = np.array([rating.mu for rating in self._rater.ratings()])
        # Performances differ by a normal variable of variance 2 beta².
        scaled = np.subtract.outer(mu, mu) / (2 * self._model.beta)
        result: Floats = 0.5 * _erfc(-scaled).astype(np.float64)
        return result


def _add_seats(moments: Moments, unexplained: Floats, ends: Integers) -> None:
    players = unexplained.shape[1]
    scores = _by_match(unexplained.sum(axis=2) / (players - 1), ends)
    moments.add(np.broadcast_to(np.arange(players), scores.shape), scores)


def _score_variances(singles: Floats) -> Floats:
    """Return the variances of scores in one deal, [match, bot].

    Args:
        singles: The variances of the results against each opponent, 0 against itself.
    """
    opponents = singles.shape[2] - 1
    common = np.sqrt(singles).sum(axis=2) ** 2
    own = singles.sum(axis=2)
    result: Floats = ((1 - _CORRELATION) * own + _CORRELATION * common) / opponents**2
    return result


def _rearranged(values: Floats, order: Integers) -> Floats:
    """Return [deal, one, other] in another order of the players."""
    rows = np.take_along_axis(values, order[:, :, np.newaxis], axis=1)
    result: Floats = np.take_along_axis(rows, order[:, np.newaxis, :], axis=2)
    return result


def _by_match(values: Floats, ends: Integers) -> Floats:
    """Return the means over the deals of each match."""
    sums = np.add.reduceat(values, ends[:-1], axis=0)
    counts = np.diff(ends).reshape(-1, *[1] * (values.ndim - 1))
    result: Floats = sums / counts
    return result
