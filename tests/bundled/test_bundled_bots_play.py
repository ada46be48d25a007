from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from bundled_table import BOTS, NEEDS, need_programs

if TYPE_CHECKING:
    from bundled_table import Play

PYTHON_BOTS = ("random", "greedy", "planner")
UNTIDY_BOTS = tuple(sorted(path.parent.name for path in BOTS.glob("untidy/*/bot.yaml")))

GAMES = ({"game": "tienlen"}, {"game": "speahx", "max_turns": 200})

TABLES = {
    "tienlen for 2": (2, {"game": "tienlen"}),
    "tienlen for 3": (3, {"game": "tienlen"}),
    "tienlen, southern bombs": (
        4,
        {
            "game": "tienlen",
            "bomb_hierarchy": "southern",
            "equal_rank_sets": "tie",
            "quad_beats_pair_of_twos": True,
        },
    ),
    "tienlen, bombs do not lead": (4, {"game": "tienlen", "bombs_may_lead": False}),
    "tienlen, many instant wins": (
        4,
        {
            "game": "tienlen",
            "instant_wins": ["five_pair_run", "three_triple_run", "six_pairs", "run_3_to_A"],
            "instant_win_others": "play_on",
        },
    ),
    "speahx for 2": (2, {"game": "speahx", "max_turns": 200}),
    "speahx for 14 with jokers": (14, {"game": "speahx", "jokers": True, "max_turns": 400}),
    "speahx by its author": (4, {"game": "speahx", "preset": "author", "max_turns": 200}),
    "speahx by the letter": (4, {"game": "speahx", "preset": "letter", "max_turns": 200}),
    "speahx, everything wild": (
        5,
        {
            "game": "speahx",
            "two_wild": True,
            "ten_wild": True,
            "lead_chain": "previous_suit_or_rank",
            "follow_multi": "first_suit_or_rank",
            "chance_commits": False,
            "quad_scope": "anywhere",
            "max_turns": 200,
        },
    ),
    "speahx, no chance cards": (
        3,
        {"game": "speahx", "chance_max": 0, "jack_wild": False, "max_turns": 200},
    ),
}


def _faults(records: list[Any]) -> list[tuple[str, str]]:
    return [(fault.kind, fault.cause) for record in records for fault in record.faults]


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_python_bots_play_by_all_rules(table: tuple[int, dict[str, Any]], play: Play) -> None:
    players, rules = table
    bots = [PYTHON_BOTS[seat % 3] for seat in range(players)]
    records = play(bots, rules, deals=3)
    assert len(records) == 3
    assert _faults(records) == []


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules["game"])
@pytest.mark.parametrize("bot", NEEDS)
def test_bots_in_every_language_play(bot: str, rules: dict[str, Any], play: Play) -> None:
    records = play([bot, "greedy", bot], rules, deals=3)
    assert _faults(records) == []


def test_fourteen_bots_of_all_languages_play_speahx(play: Play) -> None:
    bots = [*NEEDS, *PYTHON_BOTS, *NEEDS][:14]
    records = play(bots, {"game": "speahx", "jokers": True, "max_turns": 280})
    assert _faults(records) == []


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules["game"])
@pytest.mark.parametrize("bot", UNTIDY_BOTS)
def test_untidy_bots_simply_work(bot: str, rules: dict[str, Any], play: Play) -> None:
    records = play([f"untidy/{bot}", "greedy"], rules, deals=2)
    assert _faults(records) == []


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules["game"])
def test_the_same_seed_gives_the_same_play(rules: dict[str, Any], play: Play) -> None:
    first, second = (
        [record.moves for record in play(PYTHON_BOTS, rules, deals=2)] for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules["game"])
def test_a_fresh_process_plays_as_one_that_has_played_before(
    rules: dict[str, Any], play: Play
) -> None:
    kept, renewed = (
        [record.moves for record in play(PYTHON_BOTS, rules, matches=3, restart=restart)]
        for restart in ("fault", "match")
    )
    assert kept == renewed


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules["game"])
@pytest.mark.parametrize("bot", [bot for bot in NEEDS if bot != "c"])
def test_bots_in_all_languages_make_the_same_choices(
    bot: str, rules: dict[str, Any], play: Play
) -> None:
    """They pick by one formula, so that they agree if they have read the same from the lines."""
    need_programs("c", bot)
    names = ["one", "two", "three"]
    expected, found = (play([it] * 3, rules, names=names, deals=2) for it in ("c", bot))
    assert [record.moves for record in found] == [record.moves for record in expected]


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules["game"])
def test_planner_beats_greedy_beats_random(rules: dict[str, Any], play: Play) -> None:
    """The same cards from each seat; the bots repeat themselves, and so does this figure."""
    bots = ["planner", "greedy", "random"]
    places: dict[str, list[int]] = {bot: [] for bot in bots}
    for first in range(3):
        seats = bots[first:] + bots[:first]
        for record in play(seats, rules, matches=10, names=seats):
            for bot, place in zip(seats, record.places, strict=True):
                places[bot].append(place)
    planner, greedy, random = (sum(places[bot]) / 30 for bot in bots)
    assert planner + 0.25 < greedy < random - 0.25, places
