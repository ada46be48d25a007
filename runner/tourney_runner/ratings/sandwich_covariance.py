"""The covariance of the errors of ratings, robust to errors of the model.

The rating's sigma treats each bot separately and every deal as independent. Intervals need more:

* Deals only carry information about differences, so ratings are read relative to the mean of the
  connected field, and the errors of different bots are correlated.
* A match plays the same cards several times, and luck is seldom normal. Each match exerts a force
  on the ratings. If the forces of whole matches vary more than the model expects, errors are wider
  by the root of the ratio (a cluster-robust or "sandwich" variance), whatever the reason. They
  are never taken to be narrower than the model says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from tourney_runner.ratings.order_free import Evidence, Fit

    Floats = NDArray[np.float64]

__all__ = ["covariance"]

_CHUNK = 2048
"""Groups at a time; limits memory to 16 KiB an entrant."""


def covariance(fit: Fit, group_of_deal: Mapping[int, Sequence[int]]) -> Floats:
    """Return the covariance of the errors of mu relative to the field's mean, [entrant, entrant].

    An entrant that has not met any other keeps its prior variance and is uncorrelated with all
    others.

    Args:
        fit: The converged ratings.
        group_of_deal: By the number of players, the group of each deal in the fit's order.
    """
    prior = fit.model.sigma**-2
    entrants = len(fit.mu)
    same = (fit.connected[:, np.newaxis] == fit.connected).astype(np.float64)
    common_mean = same / same.sum(axis=1)
    information = sum((_information(table, entrants) for table in fit.evidence), start=same * 0)
    expected: Floats = np.linalg.inv(information + prior * np.eye(entrants)) - common_mean / prior
    alone = same.sum(axis=1) == 1
    expected[alone, alone] = 1 / prior
    seen, groups = np.zeros(entrants), np.zeros(entrants)
    for table in fit.evidence:
        for forces in _forces(table, fit.mu, group_of_deal[table.players]):
            seen += np.square(forces @ expected).sum(axis=0)
            groups += (forces != 0).sum(axis=0)
    # A few groups underestimate the variance, and a single group shows none.
    seen *= groups / np.maximum(groups - 1, 1)
    widening = np.sqrt(np.maximum(seen / np.diag(expected), 1))
    result: Floats = expected * np.outer(widening, widening)
    return result


def _information(table: Evidence, entrants: int) -> Floats:
    """Return the information of the deals about differences.

    A player's force moves its own rating by the precision of the messages that it received, and
    those of the others at the table by the same amount in total.
    """
    counts = np.bincount(table.outcome_of_deal.ravel(), minlength=table.entrants.shape[1])
    precisions = table.precisions * counts / (2 * (table.players - 1))
    result = np.zeros((entrants, entrants))
    for one in range(table.players):
        for other in range(one):
            share = precisions[one] + precisions[other]
            np.add.at(result, (table.entrants[one], table.entrants[other]), -share)
    result += result.T
    result -= np.diag(result.sum(axis=1))
    return result


def _forces(table: Evidence, mu: Floats, group_of_deal: Sequence[int]) -> Iterator[Floats]:
    """Yield the force of each group on each entrant, [group, entrant], chunk by chunk."""
    entrants = len(mu)
    by_outcome = table.shifts - table.precisions * mu[table.entrants]
    rows = table.outcome_of_deal.ravel()
    who = table.entrants[:, rows]
    pairs, index = np.unique(np.asarray(group_of_deal) * entrants + who, return_inverse=True)
    sums = np.bincount(index.ravel(), by_outcome[:, rows].ravel())
    numbers, group = np.unique(pairs // entrants, return_inverse=True)
    for first in range(0, len(numbers), _CHUNK):
        begin, end = np.searchsorted(group, [first, first + _CHUNK])
        forces = np.zeros((min(_CHUNK, len(numbers) - first), entrants))
        forces[group[begin:end] - first, pairs[begin:end] % entrants] = sums[begin:end]
        yield forces
