"""The result box says who won, and never more than the deals show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace
from tourney_runner.publish.summary import Contender, Summary, groups, result_box
from tourney_runner.ratings.model import Model
from tourney_runner.ratings.standings import standings
from tourney_runner.results.records import DealKey, DealRecord
from tourney_runner.results.tournament_record import (
    Conditions,
    EntrantRecord,
    Schedule,
    Seed,
    TournamentRecord,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMES = ("ada", "bob", "cy")


def summary(places: Iterable[tuple[int, int, int]]) -> Summary:
    """The summary of matches of one deal, given the places of ada, bob and cy."""
    deals = [
        DealRecord(
            key=DealKey(0, number, 0), seating=(0, 1, 2), start=0, moves="", places=row,
            points=tuple(float(3 - place) for place in row), times=(), faults=(),
        )
        for number, row in enumerate(places)
    ]  # fmt: skip
    record = TournamentRecord(
        name="cup", game="tienlen", rules={"players": 3}, differing={}, play={}, limits="",
        seed=Seed(1, secret=False), schedule=Schedule("round-robin", {}, 1), rating={},
        entrants=tuple(
            EntrantRecord(number=at, name=name, hash="") for at, name in enumerate(NAMES)
        ),
        conditions=Conditions("none", "wall", "0"), publish={},
    )  # fmt: skip
    return Summary(
        facts=record,
        seed=1,
        seed_sha256="",
        sealed=False,
        complete=True,
        table=standings(NAMES, deals, Model()),
    )


def test_a_clear_winner_has_won() -> None:
    box = result_box(summary([(1, 2, 3), (1, 3, 2)] * 40))
    assert box is not None
    assert (box.verb, box.first, box.is_sure) == ("won", ("ada",), True)
    assert box.contenders == (Contender("ada", 100),)


def test_equal_bots_are_named_as_contenders() -> None:
    found = summary([(1, 2, 3), (2, 1, 3)] * 20)
    box = result_box(found)
    assert box is not None
    assert (box.verb, box.is_sure) == ("finished first", False)
    assert {one.name for one in box.contenders} == {"ada", "bob"}
    assert groups(found) == {"cy"}


def test_few_matches_claim_nothing() -> None:
    found = summary([(1, 2, 3)])
    box = result_box(found)
    assert box is not None
    assert (box.too_little_data, box.is_sure, box.contenders) == (True, False, ())
    assert groups(found) == frozenset()


def test_a_tournament_that_goes_on_has_a_leader() -> None:
    box = result_box(replace(summary([(1, 2, 3)] * 40), complete=False))
    assert box is not None
    assert box.verb == "leads"


def test_the_final_decides_a_knockout() -> None:
    found = replace(
        summary([(1, 2, 3)] * 40), last_table_decides=True, final=("bob", "ada"), winners=1
    )
    box = result_box(found)
    assert box is not None
    assert (box.verb, box.first, box.after) == ("won the final", ("bob",), ("ada",))
    assert result_box(replace(found, final=())) is None


def test_nothing_played_has_no_result() -> None:
    assert result_box(summary([])) is None
