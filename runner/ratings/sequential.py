"""Ratings deal by deal: each is one free-for-all, in the order of the schedule.

This is TrueSkill's factor graph for players without teams. Its messages run along a chain: the
players stand in the order of their places, and each pair of neighbours is compared once. The
order of the messages, the cap on sweeps and the rule for stopping are those of the PyPI package
``trueskill``, whose numbers come out (the tests compare them); what it needs 400 µs for takes
25 here, since a chain of numbers needs no graph of objects.
"""

from __future__ import annotations

from itertools import groupby, pairwise
from math import inf, sqrt
from operator import add
from typing import TYPE_CHECKING

from runner.games.shuffle import shuffled
from runner.ratings.model import Rating
from runner.ratings.truncated import tie_message, win_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.ratings.model import Model

__all__ = ["finishing_order", "rate"]

_SWEEPS = 10
_STILL = 1e-4
"""A sweep that moves no message by more than this is the last."""


def rate(
    model: Model, ratings: Sequence[Rating], places: Sequence[int], tie_seed: int = 0
) -> list[Rating]:
    """What is believed of the players after a deal.

    Args:
        model: The constants.
        ratings: The belief before the deal, for each player, two or more.
        places: The place of each player; equal places tie.
        tie_seed: Decides in which order tied players stand on the chain, which has a small
            influence; a seed of the deal's own favours nobody.

    Returns:
        The new beliefs in the order of `ratings`. With `tau` 0 no sigma has grown.
    """
    order = finishing_order(places, tie_seed)
    drift, noise = model.tau * model.tau, model.beta * model.beta
    means = [ratings[player][0] for player in order]
    variances = [ratings[player][1] * ratings[player][1] + drift for player in order]
    ties = [places[one] == places[two] for one, two in pairwise(order)]
    chain = _Chain(means, [variance + noise for variance in variances], ties, model.draw_margin)
    result = list(ratings)
    for player, mean, variance, (heard, heard_shift) in zip(
        order, means, variances, chain.evidence(), strict=True
    ):
        # The evidence is about a performance; the skill is that less its noise.
        discount = 1 / (1 + noise * heard)
        precision = 1 / variance + discount * heard
        shift = mean / variance + discount * heard_shift
        result[player] = Rating(shift / precision, sqrt(1 / precision))
    return result


def finishing_order(places: Sequence[int], tie_seed: int) -> list[int]:
    """Player numbers by place, tied players in the order that the seed gives."""
    order = sorted(range(len(places)), key=places.__getitem__)
    if len(set(places)) == len(places):
        return order
    groups = groupby(order, key=places.__getitem__)
    return [player for _, group in groups for player in shuffled(list(group), tie_seed)]


class _Chain:
    """The performances in the order of places, and what their comparisons say about each.

    All is held as a precision and a precision times a mean (a "shift"): in that form
    independent evidence adds up.

    Args:
        means: The belief about each performance.
        variances: The same.
        ties: For each pair of neighbours, whether they tied.
        margin: The draw margin.
    """

    def __init__(
        self, means: list[float], variances: list[float], ties: list[bool], margin: float
    ) -> None:
        count = len(means)
        self._prior = [1 / variance for variance in variances]
        self._prior_shift = [m / variance for m, variance in zip(means, variances, strict=True)]
        self._messages = [tie_message if tie else win_message for tie in ties]
        self._margin = margin
        # What each performance hears from its better and from its worse neighbour.
        self._better, self._better_shift = [0.0] * count, [0.0] * count
        self._worse, self._worse_shift = [0.0] * count, [0.0] * count
        # What each pair said last: mean, variance, precision, shift.
        self._said = [(0.0, inf, 0.0, 0.0)] * (count - 1)

    def evidence(self) -> list[tuple[float, float]]:
        """For each performance, precision and shift of all that it heard."""
        pairs = len(self._said)
        for _ in range(_SWEEPS if pairs > 1 else 1):
            moved = 0.0
            for pair in range(pairs):
                moved = max(moved, self._compare(pair, tell_worse=True))
            self._tell_better(pairs - 1)
            for pair in range(pairs - 2, 0, -1):
                moved = max(moved, self._compare(pair, tell_worse=False))
            if moved <= _STILL:
                break
        if pairs > 1:
            self._tell_better(0)
        precisions = map(add, self._better, self._worse)
        return list(zip(precisions, map(add, self._better_shift, self._worse_shift), strict=True))

    def _compare(self, pair: int, *, tell_worse: bool) -> float:
        """Compare neighbours by what else is known of them, and tell one; gives the change."""
        below = pair + 1
        precision = self._prior[pair] + self._better[pair]
        variance = 1 / precision
        mean = (self._prior_shift[pair] + self._better_shift[pair]) / precision
        precision = self._prior[below] + self._worse[below]
        variance_below = 1 / precision
        mean_below = (self._prior_shift[below] + self._worse_shift[below]) / precision
        total = variance + variance_below
        scale = sqrt(total)
        difference, spread = self._messages[pair]((mean - mean_below) / scale, self._margin / scale)
        difference *= scale
        spread *= total
        precision = 1 / spread
        shift = difference * precision
        _, _, old_precision, old_shift = self._said[pair]
        self._said[pair] = difference, spread, precision, shift
        if tell_worse:
            heard = 1 / (variance + spread)
            self._better[below] = heard
            self._better_shift[below] = heard * (mean - difference)
        else:
            heard = 1 / (variance_below + spread)
            self._worse[pair] = heard
            self._worse_shift[pair] = heard * (mean_below + difference)
        change, root = abs(shift - old_shift), sqrt(abs(precision - old_precision))
        return max(root, change)

    def _tell_better(self, pair: int) -> None:
        """Tell the better of a pair what it said last, with what is known of the worse now."""
        below = pair + 1
        precision = self._prior[below] + self._worse[below]
        mean = (self._prior_shift[below] + self._worse_shift[below]) / precision
        difference, spread, _, _ = self._said[pair]
        heard = 1 / (1 / precision + spread)
        self._worse[pair] = heard
        self._worse_shift[pair] = heard * (mean + difference)
