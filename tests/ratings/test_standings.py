from __future__ import annotations

import msgspec
import pytest
from simulation import deal, played
from tourney_runner.ratings.standings import Scoreboard, standings
from tourney_runner.ratings.table import Anchor

NAMES = ["ada", "bob", "cyd", "dan", "eve"]


def test_the_table_counts_places_points_and_faults() -> None:
    table = standings(
        NAMES[:4],
        [
            deal([0, 1, 2, 3], [1, 2, 3, 4]),
            deal([3, 0, 1, 2], [4, 1, 2, 2], (0, 1, 0), [(0, "crash"), (2, "timeout")]),
            deal([2, 3, 0, 1], [3, 4, 1, 2], (0, 2, 0), [(1, "crash")]),
        ],
    )
    rows = {row.name: row for row in table.entrants}
    assert table.deals == 3
    assert [row.name for row in table.entrants] == ["ada", "bob", "cyd", "dan"]
    assert [row.rank for row in table.entrants] == [1, 2, 3, 4]
    assert rows["ada"].places == (3, 0, 0, 0)
    assert rows["ada"].points == 9
    assert rows["bob"].places == (0, 3, 0, 0)
    assert rows["cyd"].places == (0, 1, 2, 0)
    assert rows["bob"].mean_place == pytest.approx((2 + 2.5 + 2) / 3)
    assert rows["cyd"].mean_place == pytest.approx((3 + 2.5 + 3) / 3)
    assert rows["dan"].faults == {"crash": 2}
    assert rows["bob"].faults == {"timeout": 1}
    assert rows["ada"].faults == {}


def test_before_the_first_deal_all_share_the_first_rank_by_name() -> None:
    table = standings(["zoe", "ann"], [])
    assert [(row.rank, row.name, row.deals) for row in table.entrants] == [
        (1, "ann", 0),
        (1, "zoe", 0),
    ]
    assert table.entrants[0].mean_place is None


def test_the_score_is_three_sigma_below_mu_and_ranks_if_wanted() -> None:
    deals = list(played([2.0, 1.5, 1.0, 0.5, 0.0], 4, 6, seed=3))
    for rank_by, value in (("estimate", "mu"), ("score", "score")):
        table = standings(NAMES, deals, rank_by=rank_by)  # type: ignore[arg-type]
        values = [getattr(row, value) for row in table.entrants]
        assert values == sorted(values, reverse=True)
    for row in table.entrants:
        assert row.score == row.mu - 3 * row.sigma
        assert row.deals == 24
        assert sum(row.places) == 24


def test_better_bots_rank_higher() -> None:
    table = standings(NAMES, played([0.0, 2.0, 1.0, 4.0, 3.0], 4, 20, seed=1))
    assert [row.name for row in table.entrants] == ["dan", "eve", "bob", "cyd", "ada"]


def test_the_table_can_be_asked_for_at_any_time() -> None:
    deals = list(played([3.0, 2.0, 1.0, 0.0], 4, 1, seed=5))
    board = Scoreboard(NAMES[:4])
    for count, one in enumerate(deals, 1):
        board.add(one)
        if count % 6 == 0:
            assert board.standings() == standings(NAMES[:4], deals[:count])


def test_a_row_becomes_the_published_json() -> None:
    table = standings(NAMES[:2], [deal([0, 1], [1, 2])])
    row = msgspec.to_builtins(table.entrants[0])
    assert list(row) == [
        "rank", "name", "status", "rank_range", "mu", "sigma", "interval", "score", "best",
        "ahead_of_average", "matches", "deals", "points", "mean_place", "places", "faults",
        "forfeits",
    ]  # fmt: skip


def test_an_anchor_shifts_the_scale_and_changes_nothing_else() -> None:
    deals = list(played([3.0, 2.0, 1.0, 0.0], 4, 12, seed=5))
    free = standings(NAMES[:4], deals)
    fixed = standings(NAMES[:4], deals, anchor=Anchor("cyd", 1500.0))
    assert free.anchor is None
    assert fixed.anchor == Anchor("cyd", 1500.0)
    before = {row.name: row for row in free.entrants}
    shift = 1500.0 - before["cyd"].mu
    for row in fixed.entrants:
        was = before[row.name]
        assert row.mu == pytest.approx(was.mu + shift, abs=1e-5)
        same = ("rank", "rank_range", "sigma", "best", "ahead_of_average", "matches", "points")
        assert [getattr(row, key) for key in same] == [getattr(was, key) for key in same]
    assert fixed.too_close == free.too_close
    assert fixed.superiority == free.superiority
    anchor = next(row for row in fixed.entrants if row.name == "cyd")
    assert anchor.interval == (1500.0, 1500.0) == (anchor.mu, anchor.mu)


def test_an_anchor_needs_matches_and_bots_that_are_connected_with_it() -> None:
    apart = [deal([0, 1], [1, 2], (n, 0, 0)) for n in range(12)]
    apart += [deal([2, 3], [1, 2], (n, 1, 0)) for n in range(12)]
    table = standings(NAMES[:4], sorted(apart, key=lambda it: it.key), anchor=Anchor("ada", 30))
    known = {row.name: row.interval is not None for row in table.entrants}
    assert known == {"ada": True, "bob": True, "cyd": False, "dan": False}

    some = [deal([0, 1, 2], [1, 2, 3], (n, 0, 0)) for n in range(12)]
    some += [deal([0, 1, 3], [1, 2, 3], (n, 0, 0)) for n in range(12, 17)]
    table = standings(NAMES[:4], some, anchor=Anchor("dan", 30))
    assert {row.interval for row in table.entrants} == {None}  # dan has only five matches

    absent = standings(NAMES[:4], apart[:12], anchor=Anchor("dan", 30))
    assert absent.anchor is None
    assert absent.entrants == standings(NAMES[:4], apart[:12]).entrants
