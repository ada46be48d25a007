"""Check one case of a Speahx case file: a position, an action and the expected outcome.

Unknown keys are an error, so that every stated fact is checked.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
from pydantic import ValidationError

from tourney_runner.games.base import TERMINAL, IllegalActionError, MalformedAnswerError
from tourney_runner.games.speahx import GAME
from tourney_runner.games.speahx.cards import LAID_NAMES, NUMBERS
from tourney_runner.games.speahx.position import Table
from tourney_runner.games.speahx.state import SpeahxState

__all__ = ["check_case", "set_up"]

ANY_CARD = NUMBERS["3S"]
"""The card that fills hands for which a case gives only the size."""


def check_case(case: dict[str, Any]) -> None:
    """Assert everything that the case claims."""
    action = dict(case["action"])
    event = action.pop("event", None)
    if event is None:
        _check_action(case, action)
    else:
        facts = EVENTS[event](dict(case["config"]), action)
        assert case["legal"] or not facts["allowed"]
        _compare(facts, case["expect"] or {})


def _check_action(case: dict[str, Any], action: dict[str, Any]) -> None:
    seat = action.pop("seat")
    state = set_up(case)
    forfeits = action.pop("forfeit", False)
    if forfeits:
        assert not action
        event = state.forfeit(seat)
    else:
        assert set(action) <= {"play", "suit", "pass", "chance"}
        read = _read(state, seat, action)
        assert (read is not None) == case["legal"]
        if read is None:
            assert case["expect"] is None
            return
        event = state.apply_action(read)
    if case["expect"] is not None:
        _compare(_facts(state, seat, event), case["expect"])


def _read(state: SpeahxState, seat: int, action: dict[str, Any]) -> Any:
    if seat != state.current_player:
        return None  # other players cannot act
    try:
        return state.read(msgspec.convert({"id": 1, **action}, GAME.answer))
    except (IllegalActionError, MalformedAnswerError, msgspec.ValidationError):
        return None


def set_up(case: dict[str, Any]) -> SpeahxState:
    """Return the position of a case."""
    seat = case["action"]["seat"]
    given = dict(case["state"])
    config = {
        **case["config"],
        **{key: given.pop(key) for key in ("players", "decks") if key in given},
    }
    options = GAME.options(**config)
    seats = range(options.players)
    turn, out = given.pop("turn", seat), given.pop("out", [])
    forfeited = given.pop("forfeited", [])
    gone = {*out, *forfeited}
    sizes = {int(key): size for key, size in given.pop("other_hand_sizes", {}).items()}
    hands = [[ANY_CARD] * (0 if each in gone else sizes.get(each, 5)) for each in seats]
    hands[seat] = sorted(_numbers(case["hand"]))
    face_down = [[ANY_CARD] * (0 if each in gone else options.table_cards) for each in seats]
    for each, cards in _table_cards(given, seat).items():
        face_down[each] = cards
    drawn = _numbers(given.pop("drawn", []))
    chances = [0 for _ in seats]
    chances[seat] = given.pop("chances_used_in_game", len(drawn))
    table = Table(
        hands=hands,
        reserve=_numbers(reversed(given.pop("reserve", []))),
        dealer=given.pop("dealer", (turn - 1) % options.players),
        seat=turn,
        pile=[LAID_NAMES[card] for card in given.pop("pile", [])],
        drawn=drawn,
        face_down=face_down,
        out=list(out),
        forfeited=list(forfeited),
        chances=chances,
        turns=given.pop("turns", 0),
    )
    assert not given, f"unknown keys of state: {sorted(given)}"
    return SpeahxState(options, table)


def _table_cards(given: dict[str, Any], seat: int) -> dict[int, list[int]]:
    """Return the table cards by seat, in order of turning. A number N means N arbitrary cards."""
    own = given.pop("table_cards", {})
    by_seat = own if isinstance(own, dict) else {seat: own}
    others = {**given.pop("other_table_sizes", {}), **given.pop("other_table_cards", {})}
    return {
        int(each): cards * [ANY_CARD] if isinstance(cards, int) else _numbers(reversed(cards))
        for each, cards in {**by_seat, **others}.items()
    }


def _numbers(cards: Any) -> list[int]:
    return [NUMBERS[card] for card in cards]


def _facts(state: SpeahxState, seat: int, event: Any) -> dict[str, Any]:
    view = state.observation(seat)
    over = state.is_terminal()
    facts = {
        "pile": list(view.pile),
        "call": view.call,
        "hand": Counter(view.hand),
        "hand_size": len(view.hand),
        "hand_sizes": list(view.hand_sizes),
        "reserve_left": view.reserve,
        "removed": event.removed,
        "next": None if over else state.current_player,
        "out": list(view.out),
        "forfeited": list(view.forfeited),
        "game_over": over,
        "drawn": list(view.drawn),
        "winner": view.out[0] if view.out else None,
        "loser": None,
        "table_left": view.table_sizes[seat] if view.table_sizes else 0,
    }
    if over:
        facts |= _result(state)
    return facts


def _result(state: SpeahxState) -> dict[str, Any]:
    places = state.places()
    shares = [places.count(place) for place in places]
    mean = [place + (share - 1) / 2 for place, share in zip(places, shares, strict=True)]
    return {
        "places": (list(places), mean),
        "points": list(state.returns()),
        "finish": places,
        "shared": [
            [seat for seat, place in enumerate(places) if place == shared]
            for shared in sorted(set(places))
            if places.count(shared) > 1
        ],
        "loser": places.index(max(places)),
    }


def _compare(facts: dict[str, Any], expected: dict[str, Any]) -> None:
    for key, value in expected.items():
        assert key in facts, f"nothing is known of {key!r}"
        if key == "hand":
            assert facts[key] == Counter(value)
        elif key == "finish":
            _compare_finish(facts[key], value)
        elif key == "places":  # a shared place is the best place of its group or the mean
            assert value in facts[key]
        else:
            assert facts[key] == value, key


def _compare_finish(places: tuple[int, ...], finish: list[Any]) -> None:
    """Compare places with seats listed from first to last; ties come in any order or as a list."""
    groups = [seats if isinstance(seats, list) else [seats] for seats in finish]
    assert all(len({places[seat] for seat in seats}) == 1 for seats in groups)
    ordered = [seat for seats in groups for seat in seats]
    assert sorted(ordered) == list(range(len(places)))
    assert [places[seat] for seat in ordered] == sorted(places)


def _setup(config: dict[str, Any], action: dict[str, Any]) -> dict[str, Any]:
    try:
        options = GAME.options(**{**config, **action})
    except ValidationError:
        return {"allowed": False}
    state = GAME.new_state(options, 0, None)
    view = state.observation(0)
    return {
        "allowed": True,
        "decks": options.in_force()["decks"],
        "cards": sum(len(zone.cards) for zone in state.scene().zones),
        "hand_size": len(view.hand),
        "reserve": view.reserve,
        "table_cards": view.table_sizes[0] if view.table_sizes else 0,
    }


def _first_turn(config: dict[str, Any], action: dict[str, Any]) -> dict[str, Any]:
    dealer = action.pop("dealer")
    state = GAME.new_state(GAME.options(**{**config, **action}), 0, dealer)
    return {"dealer": state.observation(0).dealer, "turn": state.current_player}


def _next_dealer(config: dict[str, Any], action: dict[str, Any]) -> dict[str, Any]:
    dealer = action.pop("dealer")
    state = GAME.new_state(GAME.options(**{**config, **action}), 0, dealer)
    return _first_turn(config, {**action, "dealer": state.next_start()})


def _capped(config: dict[str, Any], action: dict[str, Any]) -> dict[str, Any]:
    hands = [size * [ANY_CARD] for size in action.pop("hand_sizes")]
    options = GAME.options(**{"players": len(hands), **config, **action.pop("options", {})})
    table = Table(
        hands=hands,
        reserve=[],
        dealer=0,
        seat=0,
        face_down=[size * [ANY_CARD] for size in action.pop("table_sizes", [])],
        out=action.pop("out", []),
        forfeited=action.pop("forfeited", []),
        turns=options.turn_cap(),
    )
    assert action.pop("players", len(hands)) == len(hands)
    assert not action, f"unknown keys of action: {sorted(action)}"
    state = SpeahxState(options, table)
    assert state.current_player == TERMINAL
    return {"game_over": True, **_result(state)}


EVENTS = {
    "setup": _setup,
    "first_turn": _first_turn,
    "next_dealer": _next_dealer,
    "capped": _capped,
}
