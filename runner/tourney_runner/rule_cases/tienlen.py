"""Check one case of a Tien Len case file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from pydantic import ValidationError

from tourney_runner.games.base import TERMINAL, IllegalActionError, MalformedAnswerError
from tourney_runner.games.tienlen import GAME
from tourney_runner.games.tienlen.cards import NO_SHAPE, PACK, SHAPES, cards_in, mask_from, shape_of
from tourney_runner.games.tienlen.options import TienlenOptions
from tourney_runner.games.tienlen.state import Position, TienlenState
from tourney_runner.games.tienlen.views import TienlenAnswer
from tourney_runner.play.match_plan import match_over

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Case = dict[str, Any]
Facts = dict[str, list[Any]]
"""Facts after the action: for each name, the forms in which a case may state it."""

FOUR_TWOS = ["2S", "2C", "2D", "2H"]


def check_case(case: Case) -> None:
    """Assert that the game gives the case's verdict and every expected fact."""
    facts = _outcome(case)
    assert (facts is not None) == case["legal"], f"{case['what']}: the verdict is the other one"
    for name, wanted in (case.get("expect") or {}).items():
        assert facts is not None, "a refused action has no outcome"
        assert name in facts, f"no such fact is known here: {name!r}"
        assert _plain(name, wanted) in facts[name], f"{name}: {wanted!r} is not {facts[name]!r}"


def _outcome(case: Case) -> Facts | None:
    """Return the facts after the action, or None if it is refused."""
    action = dict(case["action"])
    event = action.pop("event", None)
    try:
        if event is not None:
            return _EVENTS[event](case["config"], case["state"], action)
        return _act(case, action)
    except (IllegalActionError, MalformedAnswerError, ValidationError):
        return None


def _plain(name: str, wanted: Any) -> Any:
    """Return an expected value in the form used for facts."""
    if name in {"passed", "hand"}:
        return sorted(wanted)
    if name == "table" and isinstance(wanted, dict):
        return {**wanted, "cards": sorted(wanted["cards"])}
    if name == "table" and wanted is not None:
        return sorted(wanted)
    return wanted


def _act(case: Case, action: dict[str, Any]) -> Facts | None:
    position = dict(case["state"])
    players = position.pop("players", 4)
    options = TienlenOptions.model_validate({"players": players, **case["config"]})
    seat = action.pop("seat")
    state = _state(options, position, seat, case["hand"])
    if seat != state.current_player or seat in case["state"].get("passed", ()):
        return None
    if action.pop("forfeit", False):
        event = state.forfeit(seat)
        shape = NO_SHAPE
    else:
        play = state.read(msgspec.convert({"id": 0, **action}, TienlenAnswer))
        shape = shape_of(play)
        event = state.apply_action(play)
    return {**_shape_facts(shape), **_position_facts(state, seat), "table_cleared": [event.cleared]}


def _state(
    options: TienlenOptions, position: dict[str, Any], seat: int, hand: Sequence[str]
) -> TienlenState:
    """Return the position of a case; other hands have a size only, and cards may occur twice."""
    out = position.pop("out", ())
    others = position.pop("other_hand_sizes", {})
    sizes = [
        len(hand) if other == seat else others.get(str(other), 0 if other in out else 1)
        for other in range(options.players)
    ]
    hands = [mask_from(hand) if other == seat else 0 for other in range(options.players)]
    table = position.pop("table", None) or {"cards": (), "by": 0}
    must = position.pop("first_play_must_contain", None)
    state = TienlenState(
        options,
        Position(
            hands=hands,
            sizes=sizes,
            turn=position.pop("turn", seat),
            table=mask_from(table["cards"]),
            owner=table["by"],
            passed=position.pop("passed", ()),
            out=out,
            must=mask_from([must] if must else ()),
        ),
    )
    assert not position, f"unknown in the state: {sorted(position)}"
    return state


def _shape_facts(shape: int) -> Facts:
    if shape == NO_SHAPE:
        return {}
    kind, length = SHAPES[shape]
    # A double sequence of three has three pairs, or six cards. A case may use either number.
    return {
        "type": [kind, *_OTHER_NAMES.get(kind, ())],
        "size": [length, 2 * length] if kind == "dseq" else [length],
    }


_OTHER_NAMES = {
    "seq": ("sequence",),
    "dseq": ("double_seq", "double_sequence", "doubleseq"),
}


def _position_facts(state: TienlenState, seat: int) -> Facts:
    turn = state.current_player
    view = state.observation(seat)
    out = list(view.out)
    facts: Facts = {
        "next": [None if turn == TERMINAL else turn],
        "leader": [turn] if view.table is None and turn != TERMINAL else [None],
        "passed": [sorted(view.passed)],
        "out": [out],
        "deal_over": [state.is_terminal()],
        "hand": [sorted(view.hand)],
        "hand_size": [view.hand_sizes[seat]],
        "must_contain": [view.must_play],
        "table": [None],
    }
    if view.table is not None:
        cards = sorted(view.table.cards)
        facts["table"] = [cards, {"cards": cards, "by": view.table.by}]
    if state.is_terminal():
        facts |= _result_facts(state)
        # The last player has not gone out but comes last in the finishing order.
        facts["out"] += facts["finish"]
    return facts


def _result_facts(state: TienlenState) -> Facts:
    places = list(state.places())
    return {
        "places": _by_seat(places),
        "points": _by_seat(list(state.returns())),
        "finish": [sorted(range(state.players), key=places.__getitem__)],
        "winner": [state.next_start()],
    }


def _by_seat(values: list[Any]) -> list[Any]:
    return [values, {str(seat): value for seat, value in enumerate(values)}]


def _options(config: dict[str, Any], **extra: Any) -> TienlenOptions:
    return TienlenOptions.model_validate({**extra, **config})


def _finished(options: TienlenOptions, finish: Sequence[int]) -> TienlenState:
    """Return a deal that ended in this order."""
    sizes = [1 if seat == finish[-1] else 0 for seat in range(options.players)]
    return TienlenState(
        options, Position(hands=[0] * options.players, sizes=sizes, turn=0, out=finish[:-1])
    )


def _won_at_once(options: TienlenOptions, winner: int) -> TienlenState:
    """Return a deal in which that seat is dealt four 2s."""
    rest = iter(cards_in(PACK & ~mask_from(FOUR_TWOS)))
    hands = [mask_from(next(rest) for _ in range(9)) for _ in range(options.players)]
    hands[winner] |= mask_from(FOUR_TWOS)
    only = options.model_copy(update={"instant_wins": ("four_twos",)})
    return TienlenState.dealt(only, hands, None)


def _deal(config: dict[str, Any], _state: dict[str, Any], action: dict[str, Any]) -> Facts:
    hands = action.pop("hands")
    _all_read(action)
    options = _options(config, players=len(hands))
    # A hand that the case leaves open gets one card, so it cannot win at once.
    rest = iter(cards_in(PACK & ~mask_from(card for hand in hands for card in hand or ())))
    masks = [mask_from([next(rest)] if hand is None else hand) for hand in hands]
    state = TienlenState.dealt(options, masks, None)
    win = state.instant_win
    facts: Facts = {
        "instant_win": [win and win.seat],
        "kind": [win and win.kind],
        "deal_over": [state.is_terminal()],
    }
    return facts | _result_facts(state) if state.is_terminal() else facts


def _score(config: dict[str, Any], state: dict[str, Any], action: dict[str, Any]) -> Facts:
    finish = _pop_any(action, "finish", "finishing_order", "order", "previous_finish", "out")
    players = action.pop("players", state.get("players", len(finish)))
    _all_read(action)
    options = _options(config, players=players)
    if len(finish) == players - 1:
        finish = [*finish, *({*range(players)} - {*finish})]
    return _result_facts(_finished(options, finish))


def _score_instant_win(
    config: dict[str, Any], state: dict[str, Any], action: dict[str, Any]
) -> Facts:
    winner = _pop_any(action, "winner", "instant_win", "seat")
    action.pop("kind", None)  # the kind of instant win does not affect the points
    players = action.pop("players", state.get("players", 4))
    if "finish" in action:  # the others have played on
        return _score(config, state, {**action, "players": players})
    _all_read(action)
    return _result_facts(_won_at_once(_options(config, players=players), winner))


def _first_leader(config: dict[str, Any], _state: dict[str, Any], action: dict[str, Any]) -> Facts:
    hands = action.pop("hands")
    _all_read(action)
    options = _options(config, players=len(hands))
    return _leader(TienlenState.dealt(options, [mask_from(hand or ()) for hand in hands], None))


def _next_leader(config: dict[str, Any], state: dict[str, Any], action: dict[str, Any]) -> Facts:
    finish = action.pop("previous_finish", None)
    players = action.pop("players", state.get("players", len(finish or range(4))))
    options = _options(config, players=players)
    if finish is None:
        winner = _pop_any(
            action, "previous_instant_win", "instant_win", "previous_winner", "winner"
        )
        before = _won_at_once(options, winner)
    else:
        before = _finished(options, finish)
    _all_read(action)
    no_luck = options.model_copy(update={"instant_wins": ()})
    return _leader(GAME.new_state(no_luck, 1, before.next_start()))


def _leader(state: TienlenState) -> Facts:
    leader = state.current_player
    return {"leader": [leader], "must_contain": [state.observation(leader).must_play]}


def _deal_sizes(config: dict[str, Any], state: dict[str, Any], action: dict[str, Any]) -> Facts:
    players = action.pop("players", state.get("players", 4))
    _all_read(action)
    dealt = GAME.new_state(_options(config, players=players), 1, None)
    sizes = {len(dealt.hand(seat)) for seat in range(players)}
    assert len(sizes) == 1, "all hands are of one size"
    undealt = [zone for zone in dealt.scene().zones if zone.name == "undealt"]
    return {"hand_size": [*sizes], "left_over": [sum(len(zone.cards) for zone in undealt)]}


def _match_over(_config: dict[str, Any], _state: dict[str, Any], action: dict[str, Any]) -> Facts:
    target, scores = action.pop("target"), action.pop("scores")
    _all_read(action)
    over = match_over(scores, target)
    winners = [seat for seat, score in enumerate(scores) if score == max(scores)]
    return {"over": [over], "winner": [winners, *winners] if over else [None, []]}


def _pop_any(action: dict[str, Any], *names: str) -> Any:
    """Return the value of the only one of these names that the action has."""
    (name,) = action.keys() & {*names}
    return action.pop(name)


def _all_read(action: dict[str, Any]) -> None:
    assert not action, f"unknown in the action: {sorted(action)}"


_EVENTS: dict[str, Callable[[dict[str, Any], dict[str, Any], dict[str, Any]], Facts]] = {
    "deal": _deal,
    "score": _score,
    "score_instant_win": _score_instant_win,
    "first_leader": _first_leader,
    "next_leader": _next_leader,
    "deal_sizes": _deal_sizes,
    "match_over": _match_over,
}
