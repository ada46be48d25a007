"""The covariance of the errors of ratings, robust to errors of the model.

The rating's sigma treats each bot separately and every deal as independent. Intervals need more:

* Deals only carry information about differences, so ratings are read relative to the mean of the
  connected field, and the errors of different bots are correlated.
* A match plays the same cards several times, and luck is seldom normal. Each match exerts a force
  on the ratings. If the forces of whole matches vary more or less than the model expects, errors
  are wider or narrower by the root of the ratio (a cluster-robust or "sandwich" variance), whatever
  the reason. Matches that share the luck of their deals widen the intervals, and duplicate deals,
  which cancel the luck of the cards, narrow them.

A ratio is uncertain where there are few matches, or where nearly all of them go the same way. So
the ratio of the field is shrunk towards 1, and that of each bot towards the field's. A single
bot's errors are never narrower than the field's ratio allows: if it wins every match, its forces do
not vary at all. The form of the variance is that of Liang and Zeger, "Longitudinal data analysis
using generalized linear models" (Biometrika, 1986).
"""

from __future__ import annotations

from math import pi
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
_PRIOR_MATCHES = 20
"""Matches at which a seen ratio counts as much as the one that it is shrunk towards."""


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
    seen, pushes, groups = np.zeros(entrants), np.zeros(entrants), np.zeros(entrants)
    for table in fit.evidence:
        for forces in _forces(table, fit.mu, group_of_deal[table.players]):
            seen += np.square(forces @ expected).sum(axis=0)
            pushes += np.square(forces).sum(axis=0)
            groups += (forces != 0).sum(axis=0)
    # A few groups underestimate the variance, and a single group shows none.
    correction = groups / np.maximum(groups - 1, 1)
    own = np.diag(information)
    matches = np.where(groups > 1, groups * np.square(_share_of_even_deals(fit, own)), 0)
    # Forces, not ratings: all ratings depend on that of a bot that is much better than the rest.
    of_field = float((pushes * correction).sum() / max(own.sum(), 1e-300))
    scale = np.sqrt(_shrunk(seen * correction / np.diag(expected), of_field, matches))
    result: Floats = expected * np.outer(scale, scale)
    return result


def _share_of_even_deals(fit: Fit, information: Floats) -> Floats:
    """Return the information of each entrant's deals as a share of that of deals of equal bots.

    A deal of two equal bots has the information 1 / (pi beta²) about each of them. If there are
    more players it has more, and the share is limited to 1.
    """
    deals = np.zeros(len(fit.mu))
    for table in fit.evidence:
        players = table.entrants[:, table.outcome_of_deal.ravel()]
        deals += np.bincount(players.ravel(), minlength=len(deals))
    even = deals / (pi * fit.model.beta**2)
    result: Floats = np.minimum(information / np.maximum(even, 1e-300), 1)
    return result


def _shrunk(ratios: Floats, of_field: float, matches: Floats) -> Floats:
    """Return the ratios of seen to expected variances, shrunk to what the matches can show.

    Args:
        ratios: By entrant.
        of_field: The ratio of all forces.
        matches: The number of matches on which each ratio is based; 0 where it is unknown.
    """
    known = np.where(matches > 0, ratios, 1.0)
    total = matches.sum()
    common = (total * of_field + _PRIOR_MATCHES) / (total + _PRIOR_MATCHES)
    own = (matches * known + _PRIOR_MATCHES * common) / (matches + _PRIOR_MATCHES)
    result: Floats = np.maximum(own, common)
    return result


def _information(table: Evidence, entrants: int) -> Floats:
    """Return the information of the deals about differences.

    A player's force moves its own rating by the precision of the messages that it received, and
    those of the others at the table by the same amount in total.
    """
    counts = np.bincount(table.outcome_of_deal.ravel(), minlength=table.entrants.shape[1])
    precisions = table.precisions * counts / (2 * (table.players - 1))
    flat = np.zeros(entrants * entrants)
    for one in range(table.players):
        for other in range(one):
            cells = table.entrants[one] * entrants + table.entrants[other]
            flat -= np.bincount(cells, precisions[one] + precisions[other], len(flat))
    result: Floats = flat.reshape(entrants, entrants)
    result = result + result.T
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
