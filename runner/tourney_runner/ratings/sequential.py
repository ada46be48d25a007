"""Ratings deal by deal: each is one free-for-all, in the order of the schedule.

This is TrueSkill's factor graph for players without teams. Its messages run along a chain: the
players stand in the order of their places, and each pair of neighbours is compared once. The order
of the messages, the cap on sweeps and the stopping rule are those of the PyPI package
``trueskill``, and so are the numbers (the tests compare them). A deal takes 20 µs instead of 400 µs
because a chain of numbers does not need a graph of objects.
"""

from __future__ import annotations

from functools import cache
from itertools import groupby, pairwise
from math import sqrt
from operator import add, mul
from typing import TYPE_CHECKING, NamedTuple

from tourney_runner.games.base import shuffled
from tourney_runner.ratings.model import Rating
from tourney_runner.ratings.truncated_gaussian import tie_message, win_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.ratings.model import Model

__all__ = ["finishing_order", "rate", "revise"]

_SWEEPS = 10
_STILL = 1e-4
"""The sweeps end when no shift, and no root of a precision, changes by more than this."""


def rate(
    model: Model, ratings: Sequence[Rating], places: Sequence[int], tie_seed: int = 0
) -> list[Rating]:
    """Return the beliefs about the players after a deal.

    Args:
        model: The constants.
        ratings: The belief before the deal, for each player, two or more.
        places: The place of each player; equal places tie.
        tie_seed: Determines the order of tied players on the chain, which has a small influence; a
            seed of the deal's own is fair to all.

    Returns:
        The new beliefs in the order of `ratings`. With `tau` 0, sigma never grows.
    """
    beliefs = [(mu, sigma * sigma) for mu, sigma in ratings]
    revised = revise(model, beliefs, places, tie_seed)
    return [Rating(mean, sqrt(variance)) for mean, variance in revised]


def revise(
    model: Model, beliefs: Sequence[tuple[float, float]], places: Sequence[int], tie_seed: int
) -> list[tuple[float, float]]:
    """Return new beliefs like `rate`, but as means and variances, for repeated updates."""
    order = finishing_order(places, tie_seed)
    drift, noise = model.tau * model.tau, model.beta * model.beta
    means = [beliefs[player][0] for player in order]
    variances = [beliefs[player][1] + drift for player in order]
    ties = [places[one] == places[two] for one, two in pairwise(order)]
    performances = [variance + noise for variance in variances]
    evidence = _evidence(means, performances, ties, model.draw_margin)
    result = list(beliefs)
    for player, mean, variance, (heard, heard_shift) in zip(
        order, means, variances, evidence, strict=True
    ):
        # The evidence is about a performance, which is the skill plus noise.
        discount = 1 / (1 + noise * heard)
        revised = 1 / (1 / variance + discount * heard)
        result[player] = (mean / variance + discount * heard_shift) * revised, revised
    return result


def finishing_order(places: Sequence[int], tie_seed: int) -> list[int]:
    """Return player numbers by place, with tied players in an order drawn from the seed."""
    order = sorted(range(len(places)), key=places.__getitem__)
    if len(set(places)) == len(places):
        return order
    groups = groupby(order, key=places.__getitem__)
    return [player for _, group in groups for player in shuffled(list(group), tie_seed)]


class _Step(NamedTuple):
    """A comparison of neighbours in a sweep, and the receivers of its message."""

    above: int
    below: int
    tell_worse: bool
    tell_better: bool


@cache
def _sweep(players: int) -> tuple[_Step, ...]:
    """Return the steps down the chain, which inform the worse, and up again to the second pair."""
    last = players - 2
    down = [
        _Step(pair, pair + 1, tell_worse=True, tell_better=pair == last) for pair in range(last + 1)
    ]
    up = [
        _Step(pair, pair + 1, tell_worse=False, tell_better=True) for pair in range(last - 1, 0, -1)
    ]
    return (*down, *up)


def _evidence(
    means: list[float], variances: list[float], ties: list[bool], margin: float
) -> list[tuple[float, float]]:
    """Return the messages of the comparisons along the chain about each performance.

    It is a single loop over plain numbers: objects and calls would make it 50 % slower, and a table
    of a million deals takes twenty million comparisons.

    Args:
        means: The mean belief about each performance before the deal, in the order of places.
        variances: The variances of these beliefs.
        ties: For each pair of neighbours, whether they tied.
        margin: The draw margin.

    Returns:
        For each performance, precision and shift of all messages that it received. (Independent
        evidence adds up as precisions and precisions times means, "shifts".)
    """
    priors = [1 / variance for variance in variances]
    prior_shifts = list(map(mul, means, priors))
    messages = [tie_message if tie else win_message for tie in ties]
    # The messages to each performance from its better and its worse neighbour, and the beliefs
    # about it from the prior and either message.
    better, better_shift = [0.0] * len(means), [0.0] * len(means)
    worse, worse_shift = [0.0] * len(means), [0.0] * len(means)
    upper, upper_variance = means.copy(), variances.copy()
    lower, lower_variance = means.copy(), variances.copy()
    # The last message of each pair.
    said, said_shift = [0.0] * len(ties), [0.0] * len(ties)
    for _ in range(_SWEEPS if len(ties) > 1 else 1):
        still = True
        for above, below, tell_worse, tell_better in _sweep(len(means)):
            mean, variance = upper[above], upper_variance[above]
            mean_below, variance_below = lower[below], lower_variance[below]
            total = variance + variance_below
            scale = sqrt(total)
            difference, spread = messages[above]((mean - mean_below) / scale, margin / scale)
            difference *= scale
            spread *= total
            precision = 1 / spread
            shift = difference * precision
            if still and (
                abs(shift - said_shift[above]) > _STILL
                or abs(precision - said[above]) > _STILL * _STILL
            ):
                still = False
            said[above], said_shift[above] = precision, shift
            if tell_worse:
                better[below] = heard = 1 / (variance + spread)
                better_shift[below] = shift = heard * (mean - difference)
                upper_variance[below] = variance = 1 / (priors[below] + heard)
                upper[below] = (prior_shifts[below] + shift) * variance
            if tell_better:
                worse[above] = heard = 1 / (variance_below + spread)
                worse_shift[above] = shift = heard * (mean_below + difference)
                lower_variance[above] = variance = 1 / (priors[above] + heard)
                lower[above] = (prior_shifts[above] + shift) * variance
        if still:
            break
    # The best player receives the last message of the first pair, updated for the current belief
    # about the worse one.
    share = 1 / (1 + said[0] * lower_variance[1])
    worse[0] = said[0] * share
    worse_shift[0] = (said[0] * lower[1] + said_shift[0]) * share
    return list(zip(map(add, better, worse), map(add, better_shift, worse_shift), strict=True))
