"""Ratings of bots whose skills drift: TrueSkill Through Time, with one time step per round.

A bot has a skill in each round. From one round to the next it changes by a normal amount with the
standard deviation `tau`. Expectation propagation within the rounds, as in `order_free`, alternates
with an exact forward and backward pass over the rounds of all bots at once (a Kalman smoother),
until the ratings converge. See Dangauthier et al., "TrueSkill Through Time" (2007); the package
``trueskillthroughtime`` gives the same numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tourney_runner.ratings.order_free import Evidence, Extrapolation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tourney_runner.ratings.model import Model

    Floats = NDArray[np.float64]
    Integers = NDArray[np.integer]

__all__ = ["TimedFit", "fit_through_time"]

_BLOCKS = 4
"""Parts of the deals of each round that are updated between two passes over the rounds."""
_SWEEPS = 300
_STILL = 1e-5
"""The fit has converged when no skill moves by more than this, in units of the prior's sigma."""
_PATIENCE = 30
"""Sweeps after which steps are halved: two bots that only played each other can oscillate."""


class TimedFit(NamedTuple):
    """The beliefs about each entrant in the last round that it played."""

    mu: Floats
    sigma: Floats
    converged: bool


def fit_through_time(
    model: Model, entrants: int, rows: Mapping[int, Integers], rounds: Mapping[int, Integers]
) -> TimedFit:
    """Rate a field whose skills drift from round to round.

    Args:
        model: The constants; `tau` is the drift from one round to the next.
        entrants: The number of entrants.
        rows: By the number of players, one row a deal as `Evidence` takes them.
        rounds: By the number of players, the round of each deal, from 0.
    """
    played = sorted(rows)
    steps = 1 + max((int(rounds[players].max()) for players in played), default=0)
    evidence = [Evidence(_at_nodes(rows[players], rounds[players], entrants)) for players in played]
    chain = _Chain(model, steps, entrants, evidence)
    extrapolation = Extrapolation()
    still = not evidence
    for number in range(_SWEEPS if evidence else 0):
        before = chain.mean()
        for table in evidence:
            for block in range(_BLOCKS):
                table.update(
                    slice(block, None, _BLOCKS),
                    model,
                    chain.precisions,
                    chain.shifts,
                    1.0 if number < _PATIENCE else 0.5,
                )
                chain.smooth(evidence)
        moved = chain.mean()
        if np.abs(moved - before).max() <= _STILL * model.sigma:
            still = True
            break
        ahead = extrapolation.next(before, moved)
        ahead += chain.drift_of_mean(ahead)
        for table in evidence:
            table.move(ahead - moved)
        chain.smooth(evidence)
    return chain.last(converged=still)


def _at_nodes(rows: Integers, rounds: Integers, entrants: int) -> Integers:
    """Return the rows with a number for each entrant in each round; ties stay inverted."""
    first = rounds[:, np.newaxis] * entrants
    nodes: Integers = np.where(rows < 0, ~(first + ~rows), first + rows)
    return nodes


def _connected(entrants: int, evidence: list[Evidence]) -> Integers:
    """Return for each entrant the lowest number of all entrants connected with it by deals."""
    lowest = np.arange(entrants)
    while True:
        before = lowest.copy()
        for table in evidence:
            players = table.entrants % entrants
            at_table = lowest[players].min(axis=0)
            for player in players:
                np.minimum.at(lowest, player, at_table)
        if np.array_equal(before, lowest):
            return lowest


class _Chain:
    """The beliefs about every entrant in every round, [round * entrants + entrant].

    Args:
        model: The constants.
        steps: The number of rounds.
        entrants: The number of entrants.
        evidence: The deals.
    """

    def __init__(self, model: Model, steps: int, entrants: int, evidence: list[Evidence]) -> None:
        self._drift = model.tau * model.tau
        self._prior = model.sigma**-2
        self._prior_shift = self._prior * model.mu
        self._shape = steps, entrants
        present = np.zeros(steps * entrants, dtype=bool)
        for table in evidence:
            present[table.entrants.ravel()] = True
        there = present.reshape(self._shape)
        first = np.where(there.any(axis=0), there.argmax(axis=0), steps)
        self._begun = np.arange(steps)[:, np.newaxis] > first
        """Whether the entrant has played in an earlier round."""
        self._first = np.minimum(first, steps - 1) * entrants + np.arange(entrants)
        self._group = _connected(entrants, evidence)
        self._prior_mean = model.mu
        self._last = np.where(
            there.any(axis=0), steps - 1 - there[::-1].argmax(axis=0), 0
        ) * entrants + np.arange(entrants)
        self.precisions = np.full(steps * entrants, self._prior)
        self.shifts = np.full(steps * entrants, self._prior_shift)
        self.smooth(evidence)

    def mean(self) -> Floats:
        """Return the means of all skills."""
        result: Floats = self.shifts / self.precisions
        return result

    def last(self, *, converged: bool) -> TimedFit:
        """Return the beliefs in the last round of each entrant."""
        precisions = self.precisions[self._last]
        return TimedFit(self.mean()[self._last], 1 / np.sqrt(precisions), converged)

    def drift_of_mean(self, mean: Floats) -> Floats:
        """Return the shift of all skills that restores the prior's mean of the field.

        Deals only carry information about differences, so in each connected part of the field the
        mean of all first skills stays that of the prior. It would be the slowest quantity to
        converge.
        """
        sizes = np.bincount(self._group, minlength=self._shape[1])
        sums = np.bincount(self._group, mean[self._first], self._shape[1])
        by = self._prior_mean - (sums / np.maximum(sizes, 1))[self._group]
        return np.tile(by, self._shape[0])

    def smooth(self, evidence: list[Evidence]) -> None:
        """Update all beliefs from the deals of all rounds, forward and backward in time."""
        said, said_shift = np.zeros(self._shape), np.zeros(self._shape)
        for table in evidence:
            table.add_to(said.reshape(-1), said_shift.reshape(-1))
        before, before_shift = np.empty(self._shape), np.empty(self._shape)
        after, after_shift = np.zeros(self._shape), np.zeros(self._shape)
        steps, drift = self._shape[0], self._drift
        before[0], before_shift[0] = self._prior, self._prior_shift
        for step in range(1, steps):
            known = before[step - 1] + said[step - 1]
            faded = 1 / (1 + drift * known)
            before[step] = np.where(self._begun[step], known * faded, self._prior)
            before_shift[step] = np.where(
                self._begun[step],
                (before_shift[step - 1] + said_shift[step - 1]) * faded,
                self._prior_shift,
            )
        for step in range(steps - 2, -1, -1):
            known = after[step + 1] + said[step + 1]
            faded = 1 / (1 + drift * known)
            after[step] = known * faded
            after_shift[step] = (after_shift[step + 1] + said_shift[step + 1]) * faded
        self.precisions[:] = (before + said + after).ravel()
        self.shifts[:] = (before_shift + said_shift + after_shift).ravel()
