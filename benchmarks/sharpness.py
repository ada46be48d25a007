"""The sharpness of a table: a bot's sigma by its number of deals, for tables of several sizes.

Deals are drawn from the model that the rating assumes: strengths a little apart, performances
that vary by beta. ``constant`` is sigma times the root of a bot's deals: it hardly depends on how
many they are, so that a bot's sigma after ``d`` deals is about ``constant / sqrt(d)``.
"""

from __future__ import annotations

import random
from math import sqrt
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from figures import report
from tourney_runner.ratings.model import Model
from tourney_runner.ratings.standings import standings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

BOTS = 28
SPREAD = 2.0
"""The standard deviation of strengths, in points of the rating."""


class _Deal(NamedTuple):
    key: tuple[int, int, int]
    seating: tuple[int, ...]
    places: tuple[int, ...]
    points: tuple[float, ...]
    faults: tuple[()] = ()


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    """All figures of one run."""
    figures: dict[str, float] = {}
    for players in (2, 4, 14):
        for deals in (arguments.deals // 10, arguments.deals):
            table = standings([str(bot) for bot in range(BOTS)], _deals(players, deals))
            sigma = mean(row.sigma for row in table.entrants)
            figures[f"{players}_players_{deals}_deals_a_bot_sigma"] = sigma
            figures[f"{players}_players_{deals}_deals_a_bot_constant"] = sigma * sqrt(deals)
    return figures


def _deals(players: int, each: int) -> Iterator[_Deal]:
    """Return deals in which every bot sits a given number of times."""
    drawn = random.Random(1)  # noqa: S311 - the same deals every time
    beta = Model().beta
    skills = [drawn.gauss(0, SPREAD) for _ in range(BOTS)]
    for number in range(each):
        order = drawn.sample(range(BOTS), BOTS)
        for match, first in enumerate(range(0, BOTS, players)):
            seating = tuple(order[first : first + players])
            played = {bot: drawn.gauss(skills[bot], beta) for bot in seating}
            ranking = sorted(seating, key=lambda bot: -played[bot])
            places = tuple(ranking.index(bot) + 1 for bot in seating)
            points = tuple(float(players - place) for place in places)
            yield _Deal((number, match, 0), seating, places, points)


if __name__ == "__main__":
    report(measure, __doc__ or "", deals=1000)
