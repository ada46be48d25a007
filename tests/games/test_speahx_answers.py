"""Tests of the answers of bots, of the events that they get, and of stored codes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tourney_runner.games.base import IllegalActionError, MalformedAnswerError
from tourney_runner.games.speahx import GAME
from tourney_runner.games.speahx.actions import Action
from tourney_runner.games.speahx.cards import LAID_NAMES, NUMBERS
from tourney_runner.games.speahx.position import Table
from tourney_runner.games.speahx.state import SpeahxState


def position(hand: str, pile: str = "", *, drawn: str = "", **options: Any) -> SpeahxState:
    """Four players, seat 0 to act, three cards in the reserve."""
    table = Table(
        hands=[sorted(NUMBERS[card] for card in hand.split()), [0], [0], [0]],
        reserve=[NUMBERS[card] for card in ("3S", "4S", "6S")],
        dealer=3,
        seat=0,
        pile=[LAID_NAMES[card] for card in pile.split()],
        drawn=[NUMBERS[card] for card in drawn.split()],
    )
    return SpeahxState(GAME.options(**options), table)


def answer(text: str) -> Any:
    return msgspec.json.decode(text, type=GAME.answer)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"id": 1}', "exactly one of"),
        ('{"id": 1, "pass": false}', "exactly one of"),
        ('{"id": 1, "suit": "H"}', "exactly one of"),
        ('{"id": 1, "pass": true, "chance": true}', "exactly one of"),
        ('{"id": 1, "play": ["9H"], "pass": true}', "exactly one of"),
        ('{"id": 1, "play": []}', "empty"),
        ('{"id": 1, "play": ["9h"]}', "'9h' is not a card"),
        ('{"id": 1, "play": ["10H"]}', "'10H' is not a card"),
        ('{"id": 1, "play": ["2H>S"]}', "'2H>S' is not a card"),
        ('{"id": 1, "play": [""]}', "'' is not a card"),
        ('{"id": 1, "play": ["2H"], "suit": "hearts"}', "'hearts' is not a suit"),
        ('{"id": 1, "play": ["2H"], "suit": ""}', "'' is not a suit"),
        ('{"id": 1, "play": ["2H"], "suit": "SC"}', "'SC' is not a suit"),
    ],
)
def test_what_is_no_action_is_malformed(text: str, words: str) -> None:
    with pytest.raises(MalformedAnswerError, match=words):
        position("9H 2H", "7H").read(answer(text))


def test_a_huge_card_name_is_cut_in_the_message() -> None:
    with pytest.raises(MalformedAnswerError) as error:
        position("9H").read(GAME.answer(id=1, play=("9" * 100_000,)))
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    ("state", "text", "message"),
    [
        (position("9C", "4C 7H"), '"play": ["9C"]',
         ("9C does not fit: on the pile lies 7H; expected one of the hearts, a 7 or a jack, "
         'or "pass": true to take the pile [S8]')),
        (position("9H", "2H>S"), '"play": ["9H"]',
         ("9H does not fit: on the pile lies 2H with spades called; expected one of the spades, "
         'a 2 or a jack, or "pass": true to take the pile [S8]')),
        (position("9H", "AS", jokers=True, two_wild=True, ten_wild=True), '"play": ["9H"]',
         ("9H does not fit: on the pile lies AS; expected one of the spades, an ace, a joker, "
         'a 2 or a 10, or "pass": true to take the pile [S8]')),
        (position("5H 9H 9C"), '"play": ["5H", "9H", "9C"]',
         ("9C does not fit after 5H: when leading, each further card must share suit or rank with "
         "the first card [S6]")),
        (position("5H 9H", "7H", follow_multi="identical"), '"play": ["5H", "9H"]',
         ("9H does not fit after 5H: several cards must all be twins of the top card, and on the "
         "pile lies 7H [S9]")),
        (position("5H 9H", "7H", follow_multi="single"), '"play": ["5H", "9H"]',
         "9H does not fit after 5H: only one card may be laid when following [S9]"),
        (position("TH 5H"), '"play": ["TH", "5H"]',
         "5H may not follow TH: after a 10 only more of them may be laid [S11]"),
        (position("JH 5H 6H"), '"play": ["JH", "5H", "6H"]',
         "6H may not follow 5H: after JH exactly one free card may be laid [S28]"),
        (position("5H JK", jokers=True), '"play": ["5H", "JK"]',
         "JK may not follow 5H: a joker must be the first card of a play [S32]"),
        (position("2H", "7H"), '"play": ["2H"]',
         ('the last card laid is 2H: the suit of the next card must be called: "suit" with S, C, D '
         "or H [S22]")),
        (position("9H", "7H"), '"play": ["9H"], "suit": "S"',
         "the last card laid is 9H: a suit may be called with a two only [S22]"),
        (position("9H", "7H"), '"pass": true, "suit": "S"',
         "a suit may be called with a two only [S22]"),
        (position("9H", "7H"), '"play": ["9H", "9H"]',
         "the play has 9H more often than the hand, which has 1 [R18]"),
        (position("9H", "7H"), '"play": ["9C"]', "9C is not in the hand [R18]"),
        (position("9H"), '"pass": true',
         ('the pile is empty, so there is nothing to take; expected "play" with the cards to lay '
         "[S13]")),
        (position(""), '"pass": true',
         ('the pile is empty, so there is nothing to take; expected "chance": true, which turns a '
         "table card [S13]")),
        (position("9H", "7H", drawn="8H"), '"chance": true',
         ("8H, drawn in this turn, fits (on the pile lies 7H), so no further card may be drawn; "
         'expected "play" or "pass": true [S20]')),
        (position("9H", "7H", drawn="8C 8S 9S"), '"chance": true',
         "3 chance cards have been drawn, and no more than 3 may be drawn in one turn [S18]"),
        (position("9H", "7H", drawn="8C"), '"play": ["9H"]',
         ("9H was not drawn in this turn; after drawing, a drawn card must be laid first "
         '("play"), or the pile taken ("pass": true) [S19]')),
    ],
)  # fmt: skip
def test_a_refusal_says_what_was_there_and_what_was_expected(
    state: SpeahxState, text: str, message: str
) -> None:
    with pytest.raises(IllegalActionError) as error:
        state.read(answer(f'{{"id": 1, {text}}}'))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("action", "code", "written"),
    [
        (Action("pass"), "-", {"pass": True}),
        (Action("chance"), "+", {"chance": True}),
        (Action("play", (NUMBERS["9H"],)), "9H", {"play": ["9H"]}),
        (Action("play", (NUMBERS["JK"], NUMBERS["TC"])), "JKTC", {"play": ["JK", "TC"]}),
        (Action("play", (NUMBERS["2C"], NUMBERS["2H"]), 0), "2C2H>S",
         {"play": ["2C", "2H"], "suit": "S"}),
    ],
)  # fmt: skip
def test_actions_have_codes_and_answers(action: Action, code: str, written: Any) -> None:
    assert GAME.encode(action) == code
    assert GAME.decode(code) == action
    assert position("9H").write(action) == written


@pytest.mark.parametrize(
    "code",
    ["", "9", "9H9", "9h", "9H>", "9H>X", "9H>SC", ">S", "--", "!2", "?9H", "9H 9C", "2H>S>"],
)
def test_a_text_that_is_no_code_is_refused(code: str) -> None:
    with pytest.raises(ValueError, match="is not an action of Speahx"):
        GAME.decode(code)


def test_a_view_has_all_that_a_bot_without_memory_needs() -> None:
    state = position("KH 9C 2S", "4C 2H>S", drawn="8C")
    assert msgspec.to_builtins(state.observation(0)) == {
        "seat": 0,
        "to_move": 0,
        "hand": ("2S", "9C", "KH"),
        "drawn": ("8C",),
        "drawn_size": 1,
        "pile": ("4C", "2H>S"),
        "call": "S",
        "reserve": 3,
        "hand_sizes": (3, 1, 1, 1),
        "chances": 2,
        "turn": 1,
        "max_turns": 1000,
        "dealer": 3,
    }
    other = state.observation(1)
    assert (other.hand, other.drawn, other.drawn_size, other.chances) == (("2S",), (), 1, 3)


@pytest.mark.parametrize(
    ("state", "code", "line"),
    [
        (position("9H 9C 3D", "7H"), "9H9C", "seat 0 lays 9H 9C"),
        (position("2H 3D", "7H"), "2H>S", "seat 0 lays 2H, calling spades"),
        (position("TH", "7H 8H"), "TH",
         "seat 0 lays TH; 3 cards leave the game; draws 3 cards; plays again"),
        (position("9H", "7H"), "-", "seat 0 takes the pile of 1 card"),
        (position("9H", "7H"), "+", "seat 0 draws a chance card"),
    ],
)  # fmt: skip
def test_events_are_told_in_plain_words(state: SpeahxState, code: str, line: str) -> None:
    event = state.apply_action(GAME.decode(code))
    assert state.describe(event) == line


def test_the_scene_shows_zones_and_calls() -> None:
    scene = position("9H", "4C 2H>S", drawn="8C").scene()
    zones = {(zone.name, zone.seat): zone for zone in scene.zones}
    assert zones["pile", None].cards == ("4C", "2H")
    assert zones["pile", None].note == "spades called"
    assert zones["reserve", None].shown_to == "nobody"
    assert zones["hand", 0].shown_to == "owner"
    assert zones["drawn", 0].cards == ("8C",)
    assert scene.seats[0].cards == 2
