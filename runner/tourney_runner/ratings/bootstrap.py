"""Bootstrap intervals, computed by resampling whole matches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tourney_runner.ratings.table import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tourney_runner.ratings.group_sums import Columns

    Floats = NDArray[np.float64]

__all__ = ["Resampled", "percentiles", "resample"]

_CHUNK = 50
"""Resamples computed at a time; limits memory to 200 bytes a match."""


class Resampled(NamedTuple):
    """The means in each resample of the matches: [resample, entrant].

    An entrant that is absent from a resample has its own mean there, NaN if it never played.
    """

    mean_places: Floats
    mean_points: Floats


def resample(columns: Columns, resamples: int, seed: int) -> Resampled:
    """Draw as many matches as there are, with replacement, and compute all means of each sample.

    Args:
        columns: The deals.
        resamples: The number of samples.
        seed: The same seed gives the same numbers on every machine and NumPy version.
    """
    sums = np.zeros((3, columns.entrants, resamples))
    order = np.argsort(np.asarray(columns.entrant), kind="stable")
    groups = np.asarray(columns.group)[order]
    values = np.stack([columns.deals, columns.places, columns.points])[:, order]
    bounds = np.searchsorted(
        np.asarray(columns.entrant)[order], np.arange(columns.entrants + 1)
    ).tolist()
    done = 0
    for weights in _weights(columns.groups, resamples, seed):
        until = done + weights.shape[1]
        for entrant in range(columns.entrants):
            own = slice(bounds[entrant], bounds[entrant + 1])
            sums[:, entrant, done:until] = values[:, own] @ weights[groups[own]]
        done = until
    entrants = np.asarray(columns.entrant)[order]
    own_deals, own_places, own_points = (
        np.bincount(entrants, row, columns.entrants)[:, np.newaxis] for row in values
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        absent = sums[0] == 0
        mean_places = np.where(absent, own_places / own_deals, sums[1] / sums[0])
        mean_points = np.where(absent, own_points / own_deals, sums[2] / sums[0])
    return Resampled(mean_places.T, mean_points.T)


def percentiles(resampled: Floats) -> list[Interval]:
    """Return the middle 95 % of each column."""
    low, high = np.percentile(resampled, [2.5, 97.5], axis=0)
    return [Interval(*pair) for pair in zip(low.tolist(), high.tolist(), strict=True)]


def _weights(groups: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield how many times each group is drawn, [group, resample], chunk by chunk."""
    random = np.random.RandomState(seed % 2**32)
    for first in range(0, resamples if groups else 0, _CHUNK):
        size = min(_CHUNK, resamples - first)
        weights = np.empty((groups, size))
        for column in range(size):
            drawn = random.randint(0, groups, groups)
            weights[:, column] = np.bincount(drawn, minlength=groups)
        yield weights
