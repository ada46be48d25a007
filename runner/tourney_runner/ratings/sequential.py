"""Ratings deal by deal, in the order of the schedule, by the package ``trueskill``.

The package takes some 25 times as long for a deal as the order-free fit, so the ratings after every
10,000 deals can be kept as checkpoints. A checkpoint is found by a digest of all deals before it:
after a ruling, or when a deal was played again or came in late, the ratings continue from the last
checkpoint before the change.
"""

from __future__ import annotations

import warnings
from array import array
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from math import erfc, exp, pi, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from tourney_runner.atomic_write import write_whole
from tourney_runner.errors import RunError
from tourney_runner.ratings.model import Rating, finishing_order, tie_seed
from tourney_runner.ratings.raters import Estimate, OrderFreeRater
from tourney_runner.ratings.truncated_gaussian import tie_message, win_message

with warnings.catch_warnings():
    # A docstring of the package has an invalid escape. Python 3.12 warns about it on every import
    # if the installer compiled no bytecode.
    warnings.simplefilter("ignore")
    import trueskill

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tourney_runner.ratings.model import Deal, Model

__all__ = ["Checkpoints", "SequentialRater", "rate"]

_CHECKPOINT_DEALS = 10_000
_SUREST = 1 - 1e-10
"""Greatest share of a variance that a deal may remove; the package divides by what is left. It
takes an upset of 100,000 standard deviations to reach it."""
_VERSION = f"1 trueskill {trueskill.__version__}"
"""Part of every digest: to be raised when the same deals are rated differently."""


class _Environment(trueskill.TrueSkill):
    """The package's factor graph, with functions v and w that are exact everywhere.

    Its own divide 0 by 0 where a result was very surprising, and lose digits long before.
    """

    def __init__(self, model: Model) -> None:
        super().__init__(
            mu=0.0,
            sigma=model.sigma,
            beta=model.beta,
            tau=model.tau,
            draw_probability=model.draw_probability,
            backend=(_cdf, _pdf, lru_cache(maxsize=4)(NormalDist().inv_cdf)),
        )

    def v_win(self, difference: float, margin: float) -> float:
        """Return by how much a win raises the mean of a difference N(difference, 1)."""
        return _moved(win_message(difference, margin), difference)

    def w_win(self, difference: float, margin: float) -> float:
        """Return the share of the variance of a difference N(difference, 1) that a win removes."""
        return _removed(win_message(difference, margin))

    def v_draw(self, difference: float, margin: float) -> float:
        """Return by how much a tie raises the mean of a difference N(difference, 1)."""
        return _moved(tie_message(difference, margin), difference)

    def w_draw(self, difference: float, margin: float) -> float:
        """Return the share of the variance of a difference N(difference, 1) that a tie removes."""
        return _removed(tie_message(difference, margin))


def _moved(message: tuple[float, float], mean: float) -> float:
    target, variance = message
    return (target - mean) / (1 + variance)


def _removed(message: tuple[float, float]) -> float:
    return min(1 / (1 + message[1]), _SUREST)


def _cdf(x: float) -> float:
    return 0.5 * erfc(-x * sqrt(0.5))


def _pdf(x: float) -> float:
    return exp(-0.5 * x * x) / sqrt(2 * pi)


@lru_cache(maxsize=8)
def _environment(model: Model) -> _Environment:
    return _Environment(model)


def rate(
    model: Model, ratings: Sequence[Rating], places: Sequence[int], tie_seed: int = 0
) -> list[Rating]:
    """Return the beliefs about the players after a deal.

    Args:
        model: The constants.
        ratings: The belief before the deal, for each player, two or more.
        places: The place of each player; equal places tie.
        tie_seed: Determines the order of tied players in the package's chain of comparisons, which
            has a small influence; a seed of the deal's own is fair to all.

    Returns:
        The new beliefs in the order of `ratings`. With `tau` 0, sigma never grows.
    """
    order = finishing_order(places, tie_seed)
    # Relative to the mean of the field, whose size must not cost digits.
    before = [
        (trueskill.Rating(ratings[player].mu - model.mu, ratings[player].sigma),)
        for player in order
    ]
    after = _environment(model).rate(before, ranks=[places[player] for player in order])
    result = list(ratings)
    for player, (rating,) in zip(order, after, strict=True):
        result[player] = Rating(model.mu + rating.mu, rating.sigma)
    return result


class _Checkpoint(msgspec.Struct, frozen=True):
    """The ratings after a number of deals, as stored."""

    ratings: list[Rating]
    """By entrant."""
    check: str
    """A hash of the ratings, which shows damage."""


class Checkpoints:
    """A folder of ratings, each in a file named by a digest of the deals that led to them.

    Files that cannot be read or written are ignored, since the deals can be rated again.

    Args:
        folder: The folder, created when it is needed.
        every: The number of deals between two checkpoints.
    """

    def __init__(self, folder: Path, every: int = _CHECKPOINT_DEALS) -> None:
        self._folder = folder
        self.every = every

    def load(self, digest: str) -> list[Rating] | None:
        """Return the ratings after the deals with that digest; None if they are not stored."""
        try:
            content = (self._folder / f"{digest}.json").read_bytes()
            found = msgspec.json.decode(content, type=_Checkpoint)
        except (OSError, msgspec.DecodeError):
            return None
        return found.ratings if found.check == _hash_of(found.ratings) else None

    def keep(self, digest: str, ratings: list[Rating]) -> None:
        """Store ratings."""
        stored = msgspec.json.encode(_Checkpoint(ratings, _hash_of(ratings)))
        with suppress(OSError, RunError):
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._folder / f"{digest}.json", stored.decode())


def _hash_of(ratings: list[Rating]) -> str:
    return sha256(msgspec.json.encode(ratings)).hexdigest()


class _Mark(NamedTuple):
    """A point at which a checkpoint can be: its number of deals, their digest and their end."""

    deals: int
    digest: str
    end: int
    """The length of the stored deals up to here."""


class SequentialRater:
    """A rater that rates deals one by one, in the order of adding (that of the schedule).

    Deals are stored until ratings are asked for, 16 bytes a player and 32 more.

    Args:
        model: The constants.
        entrants: The number of entrants.
        checkpoints: Where ratings after parts of the deals are kept; nowhere if left out.
    """

    def __init__(self, model: Model, entrants: int, checkpoints: Checkpoints | None = None) -> None:
        self._model = model
        self._ratings = [model.start] * entrants
        self._checkpoints = checkpoints
        self._deals = 0
        self._rated = 0
        self._end = 0
        """The length of the stored deals that are rated."""
        self._stored = array("q")
        """For each deal its number of players, its key, its seating and its places."""
        self._marks: list[_Mark] = []
        """Those of the deals that are not rated yet."""
        self._hashed = 0
        self._digest = sha256(f"{_VERSION} {model} {entrants}".encode())
        self._order_free = None if model.tau else OrderFreeRater(model, entrants)
        """The source of the errors if skills do not drift: a single pass and a fit of all deals
        then have the same model.
        """

    def add(self, deal: Deal, match: int) -> None:
        """Store the deal's key and outcome."""
        self._stored.extend((len(deal.seating), *deal.key, *deal.seating, *deal.places))
        self._deals += 1
        if self._checkpoints is not None and self._deals % self._checkpoints.every == 0:
            self._digest.update(self._stored[self._hashed :].tobytes())
            self._hashed = len(self._stored)
            self._marks.append(_Mark(self._deals, self._digest.hexdigest(), self._hashed))
        if self._order_free is not None:
            self._order_free.add(deal, match)

    def ratings(self) -> list[Rating]:
        """Return the ratings after the last deal."""
        self._continue_from_checkpoint()
        while self._rated < self._deals:
            self._rate_next()
            if self._marks and self._marks[0].deals == self._rated:
                mark = self._marks.pop(0)
                if self._checkpoints is not None:
                    self._checkpoints.keep(mark.digest, self._ratings)
        return list(self._ratings)

    def estimate(self) -> Estimate:
        """Return the ratings after the last deal, with their errors."""
        ratings = self.ratings()
        if self._order_free is not None:
            return self._order_free.estimate()._replace(ratings=ratings, converged=True)
        errors = np.diag(np.array([rating.sigma * rating.sigma for rating in ratings]))
        return Estimate(ratings, errors, converged=True)

    def _continue_from_checkpoint(self) -> None:
        """Skip the deals before the last checkpoint that holds for them."""
        if self._checkpoints is None:
            return
        for number in reversed(range(len(self._marks))):
            mark = self._marks[number]
            found = self._checkpoints.load(mark.digest)
            if found is not None:
                self._ratings, self._rated, self._end = found, mark.deals, mark.end
                del self._marks[: number + 1]
                return

    def _rate_next(self) -> None:
        """Rate the first deal that is not rated yet."""
        players, round_number, match, number = self._stored[self._end : self._end + 4]
        middle = self._end + 4 + players
        seating = self._stored[self._end + 4 : middle]
        places = self._stored[middle : middle + players]
        before = [self._ratings[entrant] for entrant in seating]
        after = rate(self._model, before, places, tie_seed((round_number, match, number)))
        for entrant, rating in zip(seating, after, strict=True):
            self._ratings[entrant] = rating
        self._rated += 1
        self._end = middle + players
