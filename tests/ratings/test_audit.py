from __future__ import annotations

from dataclasses import dataclass
from math import pi, sin
from random import Random
from typing import TYPE_CHECKING

import msgspec
import pytest
from simulation import deal
from tourney_runner.audit.conduct import Conduct
from tourney_runner.audit.result_checks import (
    SURE,
    corrected,
    friends,
    pair_scores,
    seat_scores,
    transitivity,
)
from tourney_runner.audit.score_residuals import DealColumns, ScoreResiduals
from tourney_runner.ratings.model import Model
from tourney_runner.results.records import SeatTime
from tourney_runner.schedule.base import Field
from tourney_runner.schedule.registry import format_class, make

if TYPE_CHECKING:
    from tourney_runner.results.records import DealRecord


@dataclass(frozen=True)
class Contest:
    """A round robin in which a performance is strength + style + luck * N(0, 1)."""

    bots: int = 12
    players: int = 4
    rounds: int = 20
    rotations: int = 1
    spread: float = 0.5
    """The standard deviation of the strengths."""
    style: float = 0.0
    """The gain of a bot beside each bot that its style suits, as in paper-scissors-rock:
    then no strength explains who beats whom."""
    friend: bool = False
    """Whether bot 1 comes last wherever bot 0 sits."""
    first_seat: float = 0.0
    """The gain of a performance in the first seat."""

    @property
    def names(self) -> list[str]:
        return [f"bot{number}" for number in range(self.bots)]

    def residuals(self, seed: int) -> ScoreResiduals:
        random = Random(seed)
        strengths = [random.gauss(0, self.spread) for _ in range(self.bots)]
        angles = [2 * pi * random.random() for _ in range(self.bots)]
        planned = make(
            "round-robin",
            Field(entrants=self.bots, players=self.players, seed=seed),
            format_class("round-robin").options(rounds=self.rounds),
        )
        columns = DealColumns(Model(), self.bots)
        for number in range(self.rounds):
            for table in planned.plan(number, ()) or ():
                cards = {bot: random.gauss(0, 1) for bot in table.seating}
                for rotation in range(self.rotations):
                    seating = table.seating[rotation:] + table.seating[:rotation]
                    performances = [
                        strengths[bot]
                        + self.style * sum(sin(angles[bot] - angles[other]) for other in seating)
                        + self.first_seat * (seat == 0)
                        + (cards[bot] + random.gauss(0, 1)) / 2**0.5
                        for seat, bot in enumerate(seating)
                    ]
                    if self.friend and {0, 1} <= set(seating):
                        performances[seating.index(1)] = -99
                    places = [1 + sum(b > a for b in performances) for a in performances]
                    columns.add(deal(seating, places, (number, table.match, rotation)))
        return columns.residuals()


HONEST = {
    "twelve bots": Contest(),
    "bots far apart": Contest(spread=1.5),
    "paper, scissors, rock": Contest(style=0.3),
    "rotations of the same cards": Contest(rounds=10, rotations=4),
    "six bots": Contest(bots=6, rounds=40),
    "tables of two": Contest(bots=6, players=2, rounds=40),
}
FIELDS = [5, pytest.param(1000, marks=pytest.mark.slow)]
"""Of each kind."""


@pytest.mark.parametrize("fields", FIELDS)
def test_honest_fields_are_seldom_suspected(fields: int) -> None:
    alarms = {"friends": 0, "seats": 0, "pairs": 0}
    transitive = 0
    for contest in HONEST.values():
        for seed in range(fields):
            residuals = contest.residuals(seed)
            alarms["friends"] += any(pair.p <= SURE for pair in friends(residuals, contest.names))
            alarms["seats"] += any(seat.p <= SURE for seat in seat_scores(residuals))
            if not contest.style:
                transitive += 1
                alarms["pairs"] += pair_scores(residuals, contest.names)[0].p <= SURE
    # In few fields as many as chance allows in one case of a hundred.
    allowed = 0.05 if fields >= 1000 else 0.17
    assert alarms["friends"] <= allowed * fields * len(HONEST)
    assert alarms["seats"] <= allowed * fields * len(HONEST)
    assert alarms["pairs"] <= allowed * transitive


@pytest.mark.parametrize("fields", FIELDS)
def test_a_bot_that_loses_for_a_friend_is_found(fields: int) -> None:
    contest = Contest(friend=True, rounds=40)
    found = 0
    for seed in range(fields):
        first = friends(contest.residuals(seed), contest.names)[0]
        found += first.p <= SURE and (first.bot, first.beside) == ("bot0", "bot1")
    assert found >= 0.8 * fields


def test_the_advantage_of_a_seat_is_measured() -> None:
    first, *others = seat_scores(Contest(rounds=100, first_seat=0.3).residuals(1))
    assert (first.players, first.seat) == (4, 1)
    assert first.p < 0.001
    assert 0.05 < first.advantage < 0.15
    assert all(seat.advantage < 0 for seat in others)


def test_a_field_without_one_order_shows_its_cycles() -> None:
    contest = Contest(bots=9, players=2, rounds=100, spread=0.0, style=1.0)
    found = transitivity(contest.residuals(3), contest.names)
    assert found.spread is not None
    assert found.spread > 2
    assert found.cycles
    honest = Contest(bots=9, players=2, rounds=100)
    found = transitivity(honest.residuals(3), honest.names)
    assert found.spread is not None
    assert 0.6 < found.spread < 1.4
    assert found.cycles == ()


def test_nothing_is_claimed_where_everybody_always_meets_the_same_others() -> None:
    contest = Contest(bots=4)
    assert friends(contest.residuals(1), contest.names) == []
    few = Contest(bots=12, rounds=2)
    residuals = few.residuals(1)
    assert friends(residuals, few.names) == []
    assert pair_scores(residuals, few.names) == []
    assert transitivity(residuals, few.names).spread is None


def test_corrected_chances_by_hand() -> None:
    assert corrected([0.04, 0.001, 0.03]) == pytest.approx([0.06, 0.003, 0.06])
    assert corrected([]) == []


def at(number: int, seating: tuple[int, int], milliseconds: float, *, void: bool) -> DealRecord:
    times = tuple(SeatTime(10, int(milliseconds * 1e7), int(milliseconds * 2e6)) for _ in seating)
    return msgspec.structs.replace(
        deal(seating, (1, 2), (number, 0, 0)),
        times=times,
        voids=("the host was busy",) if void else (),
    )


def test_void_deals_and_slow_deals_are_laid_at_the_right_bot() -> None:
    conduct = Conduct(["ada", "bob", "cyd"])
    pairs = [(0, 1), (1, 2), (2, 0)]
    for number in range(300):
        seating = pairs[number % 3]
        slow = 40.0 if number == 151 else 1.0
        conduct.add(number + 1, at(number, seating, slow, void=2 in seating and number % 10 == 1))
    first, *others = conduct.void_shares()
    assert (first.bot, first.matches, first.void) == ("cyd", 200, 20)
    assert first.expected == pytest.approx(200 * 20 / 300, abs=0.01)
    assert first.p < 0.001
    assert all(other.p == 1 for other in others)
    ada, bob, cyd = conduct.thinking_times()
    assert ada.outliers == 0
    assert (ada.median, ada.longest) == (1, 2)
    for slow in (bob, cyd):
        assert slow.outliers == 1
        assert [(one.deal, one.milliseconds) for one in slow.slowest] == [(152, 40)]
