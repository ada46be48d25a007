"""The model behind the ratings, TrueSkill for free-for-all deals, and the deals that it rates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import isfinite, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tourney_runner.games.base import shuffled

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Deal", "Fault", "Model", "Rating", "average_places", "finishing_order", "tie_seed"]


class Rating(NamedTuple):
    """A normal belief about the skill of a bot."""

    mu: float
    sigma: float

    @property
    def score(self) -> float:
        """A conservative estimate of the skill: mu - 3 sigma."""
        return self.mu - 3 * self.sigma


@dataclass(frozen=True)
class Model:
    """The constants of the model, in units of skill.

    Raises:
        ValueError: A constant is outside its range; the message names it.
    """

    mu: float = 25.0
    sigma: float = 25 / 3
    beta: float = 25 / 6
    """The standard deviation of one performance around the skill."""
    tau: float = 0.0
    """The standard deviation by which a skill may have changed before each deal; 0 for bots,
    which do not learn between deals."""
    draw_probability: float = 0.001
    """The probability that two equal bots tie. It is never 0, even in games without ties: two
    forfeits can tie, and the model is undefined for an impossible tie.
    """

    def __post_init__(self) -> None:
        ranges = {
            "mu": (self.mu, isfinite(self.mu), "a number"),
            "sigma": (self.sigma, 0 < self.sigma < 1e50, "positive"),
            "beta": (self.beta, 0 < self.beta < 1e50, "positive"),
            "tau": (self.tau, 0 <= self.tau < 1e50, "0 or positive"),
            "draw_probability": (
                self.draw_probability,
                0 < self.draw_probability < 1 and self.draw_margin > 0,
                "above 0 and below 1",
            ),
        }
        for name, (value, right, expected) in ranges.items():
            if not right:
                raise ValueError(f"{name} is {value}, expected {expected}")

    @property
    def start(self) -> Rating:
        """The belief about a bot that has not played."""
        return Rating(self.mu, self.sigma)

    @cached_property
    def draw_margin(self) -> float:
        """The difference of two performances below which they tie."""
        return NormalDist().inv_cdf((self.draw_probability + 1) / 2) * sqrt(2) * self.beta


class Fault(Protocol):
    """A fault of one bot, see `results.records.FaultRecord`."""

    @property
    def entrant(self) -> int:
        """The entrant that failed."""

    @property
    def kind(self) -> str:
        """One of the fault kinds."""

    @property
    def unplayed(self) -> bool:
        """Whether the bot was benched and forfeited the deal without playing."""


class Deal(Protocol):
    """One deal, see `results.records.DealRecord`; sequences are indexed by seat."""

    @property
    def key(self) -> tuple[int, int, int]:
        """The round, the match, and the deal or rotation within the match."""

    @property
    def seating(self) -> Sequence[int]:
        """The entrant numbers."""

    @property
    def places(self) -> Sequence[int]:
        """Places from 1; tied players share the best place of their group: 1, 2, 2, 4."""

    @property
    def points(self) -> Sequence[float]:
        """The points scored in the game."""

    @property
    def faults(self) -> Sequence[Fault]:
        """All faults in the deal."""


def average_places(places: Sequence[int]) -> list[float]:
    """Return the places with ties averaged: 1, 2, 2, 4 becomes 1, 2.5, 2.5, 4."""
    if len(set(places)) == len(places):
        return [float(place) for place in places]
    return [place + (places.count(place) - 1) / 2 for place in places]


def tie_seed(key: tuple[int, int, int]) -> int:
    """Return the seed that shuffles tied players of a deal in the rating, derived from its key."""
    round_number, match, deal = key
    return (round_number << 64) | (match << 32) | deal


def finishing_order(places: Sequence[int], tie_seed: int) -> list[int]:
    """Return player numbers by place, with tied players in an order drawn from the seed."""
    order = sorted(range(len(places)), key=places.__getitem__)
    if len(set(places)) == len(places):
        return order
    groups = groupby(order, key=places.__getitem__)
    return [player for _, group in groups for player in shuffled(list(group), tie_seed)]
