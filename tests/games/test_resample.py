"""States drawn at random from a seat's point of view."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tourney_runner.gamekit.tricks import GAME as TRICKS
from tourney_runner.games.base import seen_by
from tourney_runner.games.registry import game

if TYPE_CHECKING:
    from tourney_runner.games.base import State

RULES: list[tuple[str, dict[str, Any]]] = [
    ("tienlen", {}),
    ("tienlen", {"players": 2}),
    ("tienlen", {"players": 3, "instant_win_others": "play_on"}),
    ("speahx", {}),
    ("speahx", {"players": 2, "table_cards": 5}),
    ("speahx", {"players": 6, "jokers": True}),
    ("speahx", {"preset": "letter", "players": 3}),
    ("speahx", {"players": 3, "chance_commits": False}),
]


def played(
    name: str, rules: dict[str, Any], seed: int, moves: int, forfeits: float = 0.0
) -> tuple[State[Any], list[Any]]:
    """A state after some random moves, and its events."""
    entry, random = game(name), Random(seed)
    state = entry.new_state(entry.options(**rules), seed, None)
    events = []
    for _ in range(moves):
        if state.is_terminal():
            break
        if random.random() < forfeits:
            seats = [one.seat for one in state.scene().seats if one.state in ("playing", "passed")]
            events.append(state.forfeit(random.choice(seats)))
        else:
            actions = state.legal_actions("canonical").actions
            events.append(state.apply_action(random.choice(actions)))
    return state, events


@pytest.mark.parametrize(("name", "rules"), RULES)
def test_a_drawn_state_looks_the_same_and_can_be_played_on(
    name: str, rules: dict[str, Any]
) -> None:
    entry = game(name)
    options = entry.options(**rules)
    for seed in range(5):
        state, events = played(name, rules, seed, seed * 9, forfeits=0.01 * (seed % 2))
        for seat in range(state.players):
            if seat in state.observation(seat).forfeited:  # type: ignore[attr-defined]
                continue
            view = state.observation(seat)
            seen = [seen_by(event, seat) for event in events]
            other = entry.resample(options, view, seen, Random(seed))
            assert other.observation(seat) == view
            assert [len(other.hand(one)) for one in range(state.players)] == [
                len(state.hand(one)) for one in range(state.players)
            ]
            before = Counter(card[:2] for zone in state.scene().zones for card in zone.cards)
            after = Counter(card[:2] for zone in other.scene().zones for card in zone.cards)
            if not view.forfeited:  # type: ignore[attr-defined] # their cards may be others
                assert before == after
            if seat == 0 and seed > 3:
                assert other.play_out(Random(1)).is_terminal()


def test_every_state_that_fits_is_equally_likely_in_tienlen() -> None:
    """The hidden cards of three other players, near the end of a deal."""
    entry = game("tienlen")
    options = entry.options(instant_wins=())
    state, events = played("tienlen", {"instant_wins": ()}, 3, 0)
    random = Random(3)
    while sum(len(state.hand(seat)) for seat in (1, 2, 3)) > 5:
        actions = state.legal_actions("canonical").actions
        events.append(state.apply_action(random.choice(actions)))
    hidden = [card for seat in (1, 2, 3) for card in state.hand(seat)]
    sizes = [len(state.hand(seat)) for seat in (1, 2, 3)]
    possible = {
        (
            frozenset(order[: sizes[0]]),
            frozenset(order[sizes[0] : sizes[0] + sizes[1]]),
            frozenset(order[sizes[0] + sizes[1] :]),
        )
        for order in permutations(hidden)
    }
    draws = 60 * len(possible)
    chance = Random(5)
    view = state.observation(0)
    found = Counter(
        tuple(frozenset(other.hand(seat)) for seat in (1, 2, 3))
        for other in (entry.resample(options, view, events, chance) for _ in range(draws))
    )
    check_uniform(found, possible, draws)


def unknown(state: State[Any], events: list[Any]) -> list[str]:
    """The cards of seat 1 that it did not take from the pile, in a game with one deck."""
    pile: list[str] = []
    known: set[str] = set()
    for event in events:
        if event.action == "pass":
            known |= {*pile} if event.seat == 1 else set()
            pile = []
        elif event.action == "play":
            known -= {*event.play}
            pile = [] if event.removed else [*pile, *event.play]
    return [card for card in state.hand(1) if card not in known]


def test_every_state_that_fits_is_equally_likely_in_speahx() -> None:
    """The hand of the other player and the order of the reserve, near the end of a deal."""
    entry = game("speahx")
    options = entry.options(players=2)
    for seed in range(2, 100):
        random = Random(seed)
        state, events = played("speahx", {"players": 2}, seed, 0)
        while not state.is_terminal():
            hand = unknown(state, events)
            reserve = next(zone.cards for zone in state.scene().zones if zone.name == "reserve")
            drawn = state.observation(0).drawn_size  # type: ignore[attr-defined]
            if len(hand) == len(reserve) == 2 and not drawn:
                break
            actions = state.legal_actions("canonical").actions
            events.append(state.apply_action(random.choice(actions)))
        else:
            continue
        break
    else:
        pytest.fail("no such position was found")
    size, known = len(hand), {*state.hand(1)} - {*hand}
    possible = {
        (frozenset(order[:size]), tuple(order[size:])) for order in permutations([*hand, *reserve])
    }
    assert len(possible) > 3
    draws = 60 * len(possible)
    chance, view = Random(5), state.observation(0)
    found: Counter[Any] = Counter()
    for _ in range(draws):
        other = entry.resample(options, view, events, chance)
        left = next(zone.cards for zone in other.scene().zones if zone.name == "reserve")
        found[frozenset({*other.hand(1)} - known), tuple(left)] += 1
    check_uniform(found, possible, draws)


def check_uniform(found: Counter[Any], possible: set[Any], draws: int) -> None:
    """Compare counts with equal chances: chi-square within five standard deviations."""
    assert set(found) == possible
    expected = draws / len(possible)
    square = sum((found[one] - expected) ** 2 / expected for one in possible)
    free = len(possible) - 1
    assert abs(square - free) < 5 * (2 * free) ** 0.5


def test_the_opening_tells_who_has_the_lowest_card() -> None:
    entry = game("tienlen")
    options = entry.options(players=3, instant_wins=())
    for seed in range(20):
        state = entry.new_state(options, seed, None)
        seat = (state.current_player + 1) % 3
        other = entry.resample(options, state.observation(seat), [], Random(seed))
        cards = [card for one in range(3) for card in other.hand(one)]
        order = {
            card: rank for rank, card in enumerate(r + s for r in "3456789TJQKA2" for s in "SCDH")
        }
        assert min(cards, key=order.__getitem__) in other.hand(state.current_player)


def test_a_game_without_it_says_so() -> None:
    state = TRICKS.new_state(TRICKS.options(), 1, None)
    with pytest.raises(NotImplementedError, match="tricks cannot draw states"):
        TRICKS.resample(TRICKS.options(), state.observation(0), [], Random(1))
