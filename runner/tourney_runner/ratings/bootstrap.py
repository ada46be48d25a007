"""Error bars by resampling whole groups of deals."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tourney_runner.ratings.group_sums import Columns

    Floats = NDArray[np.float64]

__all__ = ["Interval", "Resampled", "percentiles", "ranks", "resample"]

_CHUNK = 50
"""Resamples at a time; bounds the memory to 200 bytes a group."""


class Interval(NamedTuple):
    """Both ends belong to it."""

    low: float
    high: float


class Resampled(NamedTuple):
    """What might as well have been played: [resample, entrant].

    An entrant that is absent from a resample has its own mean there, NaN if it never played.
    """

    mean_places: Floats
    mean_points: Floats


def resample(columns: Columns, resamples: int, seed: int) -> Resampled:
    """Draw groups with replacement, as many as there are, and take everybody's means again.

    Args:
        columns: The deals.
        resamples: How often.
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


def percentiles(resampled: Floats | NDArray[np.int64]) -> list[Interval]:
    """The middle 95 % of each column."""
    low, high = np.percentile(resampled, [2.5, 97.5], axis=0)
    return [Interval(*pair) for pair in zip(low.tolist(), high.tolist(), strict=True)]


def ranks(mean_places: Floats) -> NDArray[np.int64]:
    """Ranks from 1 within each row, the lowest mean place first; equal ones share a rank."""
    found = [np.searchsorted(np.sort(row), row) + 1 for row in mean_places]
    return np.array(found, dtype=np.int64)


def _weights(groups: int, resamples: int, seed: int) -> Iterator[Floats]:
    """How often each group is drawn, [group, resample], chunk by chunk."""
    random = np.random.RandomState(seed % 2**32)
    for first in range(0, resamples if groups else 0, _CHUNK):
        size = min(_CHUNK, resamples - first)
        weights = np.empty((groups, size))
        for column in range(size):
            drawn = random.randint(0, groups, groups)
            weights[:, column] = np.bincount(drawn, minlength=groups)
        yield weights
