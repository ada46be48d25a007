"""Tests of the answers of Tien Len bots, of their events, and of stored codes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tourney_runner.games.base import IllegalActionError, MalformedAnswerError
from tourney_runner.games.tienlen import GAME
from tourney_runner.games.tienlen.cards import CARDS, mask_from
from tourney_runner.games.tienlen.options import TienlenOptions
from tourney_runner.games.tienlen.state import PASS, Position, TienlenState
from tourney_runner.games.tienlen.views import TienlenEvent

HAND = "3S 3C 4S 4C 5S 5D 6H 7H 7S 9S 9C 9D 9H 2D 2H"


def facing(table: str, *, must: str = "", hand: str = HAND, **rules: Any) -> TienlenState:
    """Seat 0 to act on a combination of seat 3, or on an empty table."""
    position = Position(
        hands=[mask_from(hand.split()), 0, 0, 0],
        sizes=[len(hand.split()), 5, 5, 5],
        turn=0,
        table=mask_from(table.split()),
        owner=3,
        must=mask_from(must.split()),
    )
    return TienlenState(TienlenOptions.model_validate(rules), position)


def read(state: TienlenState, line: str) -> int:
    return state.read(msgspec.json.decode(line, type=GAME.answer))


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ('{"id": 1, "play": ["7H"]}', "7H"),
        ('{"id": 1, "play": ["7H"], "pass": false}', "7H"),
        ('{"id": 1, "play": ["7H"], "colour": "red", "debug": "hm"}', "7H"),
        ('{"id": 1, "pass": true}', ""),
        ('{"id": 1, "pass": true, "play": null}', ""),
    ],
)
def test_answers_are_read(line: str, action: str) -> None:
    assert read(facing("4H"), line) == mask_from(action.split())


def test_the_order_of_the_cards_does_not_matter() -> None:
    state = facing("")
    assert read(state, '{"id": 1, "play": ["6H", "4S", "5D"]}') == mask_from(["4S", "5D", "6H"])


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ('{"id": 1}', "neither"),
        ('{"id": 1, "pass": false}', "neither"),
        ('{"id": 1, "play": []}', "neither"),
        ('{"id": 1, "play": ["7H"], "pass": true}', "both"),
        ('{"id": 1, "play": [], "pass": true}', "both"),
        ('{"id": 1, "play": ["10H"]}', "'10H' is not a card"),
        ('{"id": 1, "play": ["7h"]}', "'7h' is not a card"),
        ('{"id": 1, "play": ["JK"]}', "'JK' is not a card"),
        ('{"id": 1, "play": ["7H", "%s"]}' % ("x" * 500), "'xxxxxxxxxxxxxxxxxxxx' is not a card"),
    ],
)
def test_what_is_no_answer_in_any_position_is_malformed(line: str, cause: str) -> None:
    with pytest.raises(MalformedAnswerError, match=cause):
        read(facing("4H"), line)


@pytest.mark.parametrize(
    ("table", "play", "rule", "message"),
    [
        ("4H", "8H", "H5", "you do not hold 8H; you hold 3S 3C"),
        ("4H", "7H 7H", "H5", "names 7H twice"),
        ("4H", "7H 9S", "H5", "7H 9S is not a combination"),
        ("", "3S 4S", "H5", "a sequence of 3 or more ranks"),
        ("", "3S 3C 4S 4C 5S 5D 6H", "H5", "is not a combination"),
        ("", "3S 4S 2D", "H23", "a sequence cannot contain a 2"),
        ("7D", "6H", "H12", "the table shows the single 7D of seat 3; 6H is not higher"),
        ("7D 7C", "3S 3C", "H12", "the pair 7C 7D of seat 3; 3S 3C is not higher"),
        ("4D 5H 6D", "4S 5S 6H", None, ""),
        ("5C 6D 7D", "4S 5S 6H", "H14", "sequence of 3 5C 6D 7D of seat 3; 4S 5S 6H is not higher"),
        ("3D 4D 5C 6C", "5S 6H 7H", "H13", "sequence of 4 .* 5S 6H 7H is a sequence of 3"),
        ("7D 7C", "9S", "H12", "9S is a single, which is not of that type"),
        ("AS", "9S 9C 9D 9H", "H18", "four of a kind, and bombs may be laid on 2s only"),
        ("2S", "9S 9C 9D 9H", None, ""),
        ("2S", "9S 9C 9D", "H12", "not of that type"),
        ("2S 2C", "9S 9C 9D 9H", "H20", "4 or more pairs"),
        ("2S 2C", "3S 3C 4S 4C 5S 5D", "H20", "double sequence of 3 pairs, but two 2s"),
        ("2S 2C 2H", "9S 9C 9D 9H", "H21", "5 or more pairs"),
        ("2S 2C 2D 2H", "9S 9C 9D 9H", "H12", "not higher"),
        ("2S 2C 2D 2H", "3S 3C 4S 4C 5S 5D", "H22", "nothing beats four 2s"),
        ("8S 8C 8D 8H", "3S 3C 4S 4C 5S 5D", "H22", "does not beat that bomb"),
        ("8S 8C 8D 8H", "2H", "H22", "2H is a single, which does not beat that bomb"),
    ],
)
def test_refusals_name_the_rule_and_what_lies_on_the_table(
    table: str, play: str, rule: str | None, message: str
) -> None:
    line = msgspec.json.encode({"id": 1, "play": play.split()}).decode()
    if rule is None:
        assert read(facing(table), line)
        return
    with pytest.raises(IllegalActionError, match=message) as refusal:
        read(facing(table), line)
    assert refusal.value.rule == rule
    assert str(refusal.value).endswith(f"[{rule}]")


def test_a_bomb_that_may_not_be_led_is_refused() -> None:
    with pytest.raises(IllegalActionError, match="no bomb be led, and 9S 9C 9D 9H is one"):
        read(facing("", bombs_may_lead=False), '{"id": 1, "play": ["9S", "9C", "9D", "9H"]}')


def test_the_first_play_must_contain_the_forced_card() -> None:
    with pytest.raises(IllegalActionError, match="must contain 3S, not 4S") as refusal:
        read(facing("", must="3S"), '{"id": 1, "play": ["4S"]}')
    assert refusal.value.rule == "H10"


@pytest.mark.parametrize(
    ("must", "rule", "message"),
    [("3S", "H10", "must play 3S"), ("", "H16", "you lead, so you may not pass")],
)
def test_who_leads_may_not_pass(must: str, rule: str, message: str) -> None:
    with pytest.raises(IllegalActionError, match=message) as refusal:
        read(facing("", must=must), '{"id": 1, "pass": true}')
    assert refusal.value.rule == rule


def test_legal_actions_are_written_as_a_bot_would() -> None:
    state = facing("AS", hand="3S 2D 2H")
    written = [state.write(action) for action in state.legal_actions().actions]
    assert msgspec.json.encode(written) == b'[{"play":["2D"]},{"play":["2H"]},{"pass":true}]'


def test_plays_are_listed_set_by_set_and_then_the_sequences() -> None:
    state = facing("", hand="3S 4S 5C 5D")
    assert [state.write(action)["play"] for action in state.legal_actions().actions] == [
        ("3S",),
        ("4S",),
        ("5C",),
        ("5D",),
        ("5C", "5D"),
        ("3S", "4S", "5C"),
        ("3S", "4S", "5D"),
    ]


def test_a_view_has_all_that_is_needed_to_answer() -> None:
    position = Position(
        hands=[mask_from(["9H", "3S"]), 0, 0, 0],
        sizes=[2, 5, 0, 7],
        turn=0,
        table=mask_from(["7D", "7C"]),
        owner=3,
        passed=[1],
        out=[2],
    )
    view = TienlenState(TienlenOptions(), position).observation(0)
    assert msgspec.json.decode(msgspec.json.encode(view)) == {
        "seat": 0,
        "hand": ["3S", "9H"],
        "table": {"cards": ["7C", "7D"], "by": 3, "kind": "pair"},
        "hand_sizes": [2, 5, 0, 7],
        "passed": [1],
        "out": [2],
        "forfeited": [],
        "turn": 0,
        "must_play": None,
    }


@pytest.mark.parametrize(
    ("event", "line", "words"),
    [
        (
            TienlenEvent(seat=2, play=("3S", "3C"), next=3),
            '{"seat":2,"play":["3S","3C"],"next":3}',
            "seat 2 plays 3S 3C",
        ),
        (
            TienlenEvent(seat=2, pass_=True, next=3),
            '{"seat":2,"pass":true,"next":3}',
            "seat 2 passes",
        ),
        (
            TienlenEvent(seat=1, pass_=True, cleared=True, next=0),
            '{"seat":1,"pass":true,"cleared":true,"next":0}',
            "seat 1 passes; the table is cleared and seat 0 leads",
        ),
        (
            TienlenEvent(seat=0, play=("2H",), out=3),
            '{"seat":0,"play":["2H"],"out":3}',
            "seat 0 plays 2H and is out in place 3; the deal is over",
        ),
        (
            TienlenEvent(seat=0, forfeit=True, next=1),
            '{"seat":0,"forfeit":true,"next":1}',
            "seat 0 forfeits",
        ),
    ],
)
def test_events_are_short_and_can_be_put_in_words(
    event: TienlenEvent, line: str, words: str
) -> None:
    assert msgspec.json.encode(event).decode() == line
    assert facing("").describe(event) == words


@pytest.mark.parametrize(
    ("cards", "code"),
    [("", "."), ("3S", "A"), ("2H", "z"), ("3S 3C", "AB"), ("QS KC AH", "kpv"), ("9S 9C", "YZ")],
)
def test_actions_are_stored_as_letters(cards: str, code: str) -> None:
    action = mask_from(cards.split())
    assert GAME.encode(action) == code
    assert GAME.decode(code) == action


@given(st.sampled_from(CARDS))
def test_every_card_has_a_code_of_its_own(card: str) -> None:
    assert GAME.decode(GAME.encode(mask_from([card]))) == mask_from([card])


@pytest.mark.parametrize("code", ["", "..", "1", "BA", "AA", "AE", "A B", "!2", "?A"])
def test_what_is_no_code_is_an_error(code: str) -> None:
    with pytest.raises(ValueError, match=r"not a combination|stand for|ascending"):
        GAME.decode(code)


def test_passing_has_no_cards() -> None:
    assert PASS == 0
