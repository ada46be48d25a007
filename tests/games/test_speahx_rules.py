"""The rules of Speahx, row by row: a position, an action, what comes of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import pytest
from tourney_runner.games.base import IllegalActionError
from tourney_runner.games.speahx import GAME
from tourney_runner.games.speahx.actions import write
from tourney_runner.rule_cases.speahx import check_case, set_up

RESERVE = "3S 4S 6S 8D 9D QD KS AS"


class Row(NamedTuple):
    """Four players, one deck, seat 0 acts, unless `state` or `config` say otherwise."""

    rule: str
    what: str
    config: dict[str, Any]
    hand: str
    pile: str
    action: str
    """A code: ``9H9C``, ``2H>S``, ``-`` for a pass, ``+`` for a chance card."""
    facts: dict[str, Any] | None
    """None: refused, with the id of `rule`."""
    state: dict[str, Any] = {}  # noqa: RUF012 - never changed

    def case(self) -> dict[str, Any]:
        facts = self.facts
        return {
            "config": self.config,
            "hand": self.hand.split(),
            "state": {
                "players": 4,
                "decks": self.config.get("decks", 1),
                "turn": 0,
                "pile": self.pile.split(),
                **split({"reserve": RESERVE, **self.state}),
            },
            "action": {"seat": 0, **write(GAME.decode(self.action))},
            "legal": facts is not None,
            "expect": None if facts is None else split(facts),
        }


def split(facts: dict[str, Any]) -> dict[str, Any]:
    """Lists of cards, which rows give as one text, apart; the call of a two is one letter."""
    return {
        key: value.split() if isinstance(value, str) and key != "call" else value
        for key, value in facts.items()
    }


def chain(name: str) -> dict[str, Any]:
    return {"lead_chain": name}


def follow(name: str) -> dict[str, Any]:
    return {"follow_multi": name}


TWO_DECKS = {"decks": 2}
JOKERS = {"jokers": True}
EMPTY = {"reserve": ""}

LEADING = [
    Row("S6", "cards of the first card's rank and suit mixed", {}, "5H 9H 5C KC", "", "5H9H5C",
        {"pile": "5H 9H 5C", "next": 1}),
    Row("S6", "the third card need not match the second", {}, "5H 5C 9H", "", "5H5C9H", {}),
    Row("S6", "the third card must match the first", {}, "5H 9H 9C", "", "5H9H9C", None),
    Row("S6", "same_rank: equal ranks", chain("same_rank"), "5H 5C 9H", "", "5H5C", {"next": 1}),
    Row("S6", "same_rank: no equal suits", chain("same_rank"), "5H 9H", "", "5H9H", None),
    Row("S6", "previous: each matches the one before it", chain("previous_suit_or_rank"),
        "5H 9H 9C KC", "", "5H9H9CKC", {"hand_size": 5}),
    Row("S6", "previous: the first card no longer counts", chain("previous_suit_or_rank"),
        "5H 9H 9C 5D", "", "5H9H9C5D", None),
    Row("S6", "single: one card", chain("single"), "5H 9H", "", "5H", {"pile": "5H"}),
    Row("S6", "single: no second card", chain("single"), "5H 5C", "", "5H5C", None),
    Row("S11", "single: a jack still brings its free card", chain("single"), "JH 5C 9D", "",
        "JH5C", {"pile": "JH 5C"}),
    Row("S11", "twos close a chain as far as they match the first card", TWO_DECKS,
        "5H 2H 2H 9D", "", "5H2H2H>C", {"pile": "5H 2H 2H>C"}),
    Row("S6", "a second two must match the first card too", {}, "5H 2H 2D 9D", "", "5H2H2D>C",
        None),
    Row("S11", "nothing but twos after a two", {}, "5H 2H 9H KD", "", "5H2H9H", None),
    Row("S11", "a two and a ten do not close together", {}, "5H 2H TH KD", "", "5H2HTH", None),
    Row("S11", "twos alone are a chain", {}, "2H 2C KD", "", "2H2C>D", {"pile": "2H 2C>D"}),
    Row("S11", "a matching ten closes a chain", {}, "5H 9H TH KD", "", "5H9HTH",
        {"pile": "", "removed": 3, "next": 0, "hand_size": 1}),
    Row("S11", "a matching jack closes a chain with its free card", {}, "5H JH 9C KD", "",
        "5HJH9C", {"pile": "5H JH 9C"}),
    Row("S6", "a jack is not wild inside a chain", {}, "5H JC KD", "", "5HJC", None),
    Row("S6", "wild twos are not wild inside a chain", {"two_wild": True}, "5H 2C KD", "",
        "5H2C>S", None),
    Row("S11", "jokers in the game: a jack is a card like others", JOKERS, "5H JH 9H KD", "",
        "5HJH9H", {"pile": "5H JH 9H"}),
    Row("S32", "a joker only begins a play", JOKERS, "5H JK KD", "", "5HJK", None),
    Row("S28", "a joker leads with a free card", JOKERS, "5H JK KD", "", "JK5H",
        {"pile": "JK 5H"}),
]  # fmt: skip

FOLLOWING = [
    Row("S8", "the same suit", {}, "9H KC", "4C 7H", "9H", {"pile": "4C 7H 9H", "next": 1}),
    Row("S8", "the same rank", {}, "7C KC", "4C 7H", "7C", {}),
    Row("S8", "neither", {}, "9C KC", "4C 7H", "9C", None),
    Row("R18", "a card that he does not have", {}, "9C KC", "4C 7H", "9H", None),
    Row("R18", "a card more often than he has it", TWO_DECKS, "9H KC", "7H", "9H9H", None),
    Row("S9", "same_rank: the first one matches, the last one is followed", {}, "9H 9C 9S", "7H",
        "9H9C", {"pile": "7H 9H 9C"}),
    Row("S8", "same_rank: the first one must match", {}, "9H 9C KC", "7H", "9C9H", None),
    Row("S9", "same_rank: no second suit card", {}, "9H 5H KC", "7H", "9H5H", None),
    Row("S9", "identical: twins of the top card", {**follow("identical"), **TWO_DECKS},
        "7H 7H KC", "7H", "7H7H", {"pile": "7H 7H 7H"}),
    Row("S9", "identical: twins of each other are not enough", {**follow("identical"),
        **TWO_DECKS}, "9H 9H KC", "7H", "9H9H", None),
    Row("S9", "identical: the printed top card counts, not the call", {**follow("identical"),
        **TWO_DECKS}, "2H 2H KC", "2H>S", "2H2H>D", {"pile": "2H>S 2H 2H>D"}),
    Row("S9", "identical: one card matches as ever", follow("identical"), "9H KC", "7H", "9H", {}),
    Row("S9", "first_suit_or_rank: like a lead", follow("first_suit_or_rank"), "9H 5H 9C KC",
        "7H", "9H5H9C", {"pile": "7H 9H 5H 9C"}),
    Row("S8", "first_suit_or_rank: the first must match the pile",
        follow("first_suit_or_rank"), "9C 5C KC", "7H", "9C5C", None),
    Row("S9", "single: no second card", follow("single"), "9H 9C KC", "7H", "9H9C", None),
    Row("S11", "single: the jack's free card", follow("single"), "JH 9C KC", "7H", "JH9C", {}),
    Row("S13", "a leader may not pass", {}, "9H", "", "-", None),
    Row("S16", "no refill after a pass", {"refill": "each_turn"}, "9H 3C", "7D", "-",
        {"hand": "9H 3C 7D", "reserve_left": 8, "next": 1, "pile": ""}),
    Row("S14", "each_turn: up to five after a play", {"refill": "each_turn"}, "9H 3C", "7H", "9H",
        {"hand": "3C 3S 4S 6S 8D", "reserve_left": 4}),
    Row("S14", "each_turn: never down to five", {"refill": "each_turn"},
        "9H 3C 3D 4C 4D 5C 5D", "7H", "9H", {"hand_size": 6, "reserve_left": 8}),
    Row("S14", "when_empty: what is left", {}, "9H", "7H", "9H",
        {"hand": "3S 4S", "reserve_left": 0, "out": [], "next": 1}, {"reserve": "3S 4S"}),
]  # fmt: skip

CHANCE = [
    Row("S17", "a card is drawn, the same player acts", {}, "9D", "7H", "+",
        {"drawn": "3S", "reserve_left": 7, "next": 0, "hand": "9D"}),
    Row("S18", "no card beyond chance_max", {"chance_max": 1}, "9D", "7H", "+", None,
        {"drawn": "8C"}),
    Row("S18", "none at all", {"chance_max": 0}, "9D", "7H", "+", None),
    Row("S18", "scope game: earlier turns count", {"chance_scope": "game"}, "9D", "7H", "+", None,
        {"chances_used_in_game": 3}),
    Row("S18", "scope game: two used, one left", {"chance_scope": "game"}, "9D", "7H", "+",
        {"drawn": "3S"}, {"chances_used_in_game": 2}),
    Row("S18", "scope turn: earlier turns do not count", {}, "9D", "7H", "+", {"drawn": "3S"},
        {"chances_used_in_game": 9}),
    Row("S21", "an empty reserve", {}, "9D", "7H", "+", None, EMPTY),
    Row("S20", "a fitting card: no further draw", {}, "9D", "7H", "+", None, {"drawn": "8H"}),
    Row("S20", "not even without commitment", {"chance_commits": False}, "9D", "7H", "+", None,
        {"drawn": "8H"}),
    Row("S20", "a fitting card may be refused by taking the pile", {}, "9D", "7H", "-",
        {"hand": "9D 7H 8H", "next": 1}, {"drawn": "8H"}),
    Row("S13", "a chance card led must be laid", {}, "9D", "", "-", None, {"drawn": "8H"}),
    Row("S21", "a chance card may lead", {}, "9D", "", "8H", {"pile": "8H", "hand": "9D"},
        {"drawn": "8H"}),
    Row("S19", "committed: no card of the hand", {}, "9H", "7H", "9H", None, {"drawn": "8C"}),
    Row("S8", "a chance card that does not fit", {}, "9H", "7H", "8C", None, {"drawn": "8C"}),
    Row("S17", "a chance card is laid alone", {}, "8C", "7H", "8H8C", None, {"drawn": "8H"}),
    Row("S33a", "unlaid chance cards go to the hand", {}, "9D", "7H", "8H",
        {"hand": "9D 8C QS", "drawn": ""}, {"drawn": "8C QS 8H"}),
    Row("S17", "a chance joker brings a free card of the hand", JOKERS, "9D", "7H", "JK9D",
        {"pile": "7H JK 9D", "hand": "8C"}, {"drawn": "8C JK"}),
    Row("R18", "but not an earlier chance card", JOKERS, "9D", "7H", "JK8C", None,
        {"drawn": "8C JK"}),
    Row("S17", "whose free card may bring its own", {}, "JD 9D 4C", "7H", "JSJD9D",
        {"pile": "7H JS JD 9D"}, {"drawn": "JS"}),
    Row("S22", "a chance two calls", {}, "9D", "7H", "2H>S", {"pile": "7H 2H>S"},
        {"drawn": "2H"}),
    Row("S23", "a chance ten clears the pile", {}, "9D", "7H", "TH",
        {"pile": "", "removed": 2, "next": 0, "drawn": ""}, {"drawn": "TH"}),
    Row("S19", "free: a card of the hand", {"chance_commits": False}, "9H 5D", "7H", "9H",
        {"pile": "7H 9H", "hand": "5D 8C"}, {"drawn": "8C"}),
    Row("S19", "free: hand and drawn cards in one play", {"chance_commits": False}, "9H 5D", "7H",
        "9H9C", {"pile": "7H 9H 9C", "hand": "5D"}, {"drawn": "9C"}),
    Row("S19", "free: drawn cards are in the hand at once", {"chance_commits": False}, "9H 5D",
        "7H", "+", {"hand": "5D 9H 3S", "drawn": "3S", "hand_sizes": [3, 5, 5, 5]}),
    Row("S20", "free: on an empty pile any card", {"chance_commits": False}, "9H 5D", "", "9H",
        {"pile": "9H", "hand": "5D 8C"}, {"drawn": "8C"}),
]  # fmt: skip

SPECIAL = [
    Row("S8", "a two must match", {}, "2C 9D", "7H", "2C>S", None),
    Row("S22", "a wild two need not", {"two_wild": True}, "2C 9D", "7H", "2C>S",
        {"pile": "7H 2C>S"}),
    Row("S22", "more twos may follow a wild one", {"two_wild": True}, "2C 2S 9D", "7H", "2C2S>S",
        {"pile": "7H 2C 2S>S"}),
    Row("S22", "a suit must be called", {}, "2H 9D", "7H", "2H", None),
    Row("S22", "with a two only", {}, "9H 9D", "7H", "9H>S", None),
    Row("S22", "the last card counts", {}, "JC 2S 9D", "7H", "JC2S>D", {"pile": "7H JC 2S>D"}),
    Row("S8", "the printed suit no longer counts", {}, "9H 9D", "7H 2H>S", "9H", None),
    Row("S8", "the called suit counts", {}, "9S 9D", "7H 2H>S", "9S", {"call": None}),
    Row("S22", "an uncovered two without a call: its printed suit", {}, "9H 9D", "2H", "9H", {}),
    Row("S22", "a call is dropped with its two", {}, "2H 9D", "2S>D 2C>S 2D>H", "2H>S",
        {"pile": "", "removed": 4, "next": 1, "call": None}),
    Row("S22", "and must be named all the same", {}, "2H 9D", "2S>D 2C>S 2D>H", "2H", None),
    Row("S8", "a ten must match", {}, "TC 9D", "7H", "TC", None),
    Row("S23", "a wild ten need not", {"ten_wild": True}, "TC 9D", "7H", "TC",
        {"pile": "", "removed": 2, "next": 0}),
    Row("S24", "several tens: one further move", {}, "TH TC 9D", "7H", "THTC",
        {"pile": "", "removed": 3, "next": 0}),
    Row("S23", "a ten with the last cards: refill, then the move", {}, "TH", "7H", "TH",
        {"hand_size": 5, "next": 0, "reserve_left": 3}),
    Row("S28", "a joker alone", JOKERS, "JK 9D", "7H", "JK", {"pile": "7H JK"}),
    Row("S28", "one free card, not two", JOKERS, "JK 9D 9C", "7H", "JK9D9C", None),
    Row("S28", "jokers in between", JOKERS, "JK JK 9D", "7H", "JKJK9D", {"pile": "7H JK JK 9D"}),
    Row("S28", "a free two calls", JOKERS, "JK 2D 9D", "7H", "JK2D>S", {"pile": "7H JK 2D>S"}),
    Row("S28", "a free ten clears the pile", JOKERS, "JK TD 9D", "7H", "JKTD",
        {"removed": 3, "next": 0}),
    Row("S28", "a free two is followed by nothing", JOKERS, "JK 2D 2C", "7H", "JK2D2C>S", None),
    Row("S8", "with jokers a jack must match", JOKERS, "JC 9D", "7H", "JC", None),
    Row("S9", "with jokers a jack brings nothing", JOKERS, "JH 9D", "7H", "JH9D", None),
    Row("S30", "with jokers a jack on top is followed by suit or rank", JOKERS, "9D", "JH",
        "-", {"hand": "9D JH"}),
    Row("S8", "with jokers not any card goes on a jack", JOKERS, "9D", "JH", "9D", None),
    Row("S31", "any card goes on a jack", {}, "9D", "JH", "9D", {}),
    Row("S31", "several cards of one rank as well", {}, "9D 9C", "JH", "9D9C", {}),
    Row("S29", "a jack goes on anything", {}, "JC 9D", "7H", "JC9D", {"pile": "7H JC 9D"}),
    Row("S8", "jack_wild off: it must match", {"jack_wild": False}, "JC 9D", "7H", "JC", None),
    Row("S29", "jack_wild off: it keeps the free card", {"jack_wild": False}, "JH 9D 3C", "7H",
        "JH9D", {"pile": "7H JH 9D"}),
    Row("S29", "jack_wild off: any card on top", {"jack_wild": False}, "9D", "JH", "9D", {}),
    Row("S28", "jacks bring each other", {}, "JC JS 9D 3C", "7H", "JCJS9D",
        {"pile": "7H JC JS 9D"}),
]  # fmt: skip

FOURS = [
    Row("S25", "top_run: whoever laid them", {}, "8H 9D", "5S 8S 8C 8D", "8H",
        {"pile": "", "removed": 5, "next": 1}),
    Row("S25", "top_run: not with a card between", {}, "8H 9D", "8S 8C 8D 5H", "8H",
        {"pile": "8S 8C 8D 5H 8H", "removed": 0}),
    Row("S25", "single_play: not across plays", {"quad_scope": "single_play"}, "8H 8D 9D",
        "5S 8S 8C", "8D8H", {"removed": 0}),
    Row("S25", "single_play: four of one play", {"quad_scope": "single_play"},
        "8H 8D 8C 8S 9D", "5S 8S", "8S8D8C8H", {"removed": 6, "next": 1}),
    Row("S25", "anywhere: with cards between", {"quad_scope": "anywhere"}, "8H 9D",
        "8S 8C 8D 5H", "8H", {"removed": 5, "pile": ""}),
    Row("S25", "anywhere: only the last card's rank", {"quad_scope": "anywhere"}, "5D 9D",
        "8S 8C 8D 8H 5H", "5D", {"removed": 0}),
    Row("S25", "off", {"quad_scope": "off"}, "8H 9D", "5S 8S 8C 8D", "8H",
        {"pile": "5S 8S 8C 8D 8H", "removed": 0}),
    Row("S26", "several decks: the four only", TWO_DECKS, "8H 9D", "5S 8S 8C 8D", "8H",
        {"pile": "5S", "removed": 4, "next": 1}),
    Row("S26", "the call of an uncovered two comes back", TWO_DECKS, "8H 9D",
        "5S 2S>C 8S 8C 8D", "8H", {"pile": "5S 2S>C", "call": "C", "removed": 4}),
    Row("S26", "a run of five leaves one", TWO_DECKS, "8H 8S 9D", "8S 8C 8D", "8H8S",
        {"pile": "8S", "removed": 4}),
    Row("S26", "five twos: the one that is left has no call", {"decks": 3},
        "2S 2S 2C 2D 2H 9D", "", "2S2S2C2D2H>C", {"pile": "2S", "call": None, "removed": 4}),
    Row("S26", "four twos on a two: its call comes back", TWO_DECKS, "2S 2C 2D 2H 9D", "2S>H",
        "2S2C2D2H>C", {"pile": "2S>H", "call": "H"}),
    Row("S26", "anywhere: the topmost four", {**TWO_DECKS, "quad_scope": "anywhere"}, "8H 9D",
        "8S 8C 5C 8D 6D 8D 9D 9H", "8H", {"pile": "8S 5C 6D 9D 9H", "removed": 4}),
    Row("S27", "four tens: the ten's effect", {}, "TH TC TD TS 9D", "7H", "THTCTDTS",
        {"removed": 5, "next": 0}),
    Row("S27", "four jacks", {}, "JC 9D", "7H JS JD JH", "JC", {"removed": 5, "next": 1}),
    Row("S27", "a free card covers the fourth jack", {}, "JC 9D 3C", "7H JS JD JH", "JC9D",
        {"removed": 0, "pile": "7H JS JD JH JC 9D"}),
    Row("S27", "jokers are no four of a kind", {**JOKERS, **TWO_DECKS}, "JK 9D", "7H JK JK JK",
        "JK", {"removed": 0}),
    Row("S27", "a joker breaks a run", JOKERS, "8H 9D", "8S 8C 8D JK", "8H", {"removed": 0}),
]  # fmt: skip

GOING_OUT = [
    Row("S33", "last card, empty reserve", {}, "9H", "7H", "9H",
        {"out": [0], "next": 1, "game_over": False}, EMPTY),
    Row("S33", "last card, one in the reserve", {}, "9H", "7H", "9H",
        {"out": [], "hand": "3S", "next": 1}, {"reserve": "3S"}),
    Row("S34", "a two's call stands", {}, "2H", "7H", "2H>D", {"pile": "7H 2H>D", "out": [0]},
        EMPTY),
    Row("S34", "after a ten the next one leads", {}, "TH", "7H", "TH",
        {"pile": "", "out": [0], "next": 2}, {**EMPTY, "out": [], "forfeited": [1]}),
    Row("S34", "after a four of a kind the next one leads", {}, "8H", "8S 8C 8D", "8H",
        {"pile": "", "out": [0], "next": 1}, EMPTY),
    Row("S35", "the last one with cards loses", {}, "9H", "7H", "9H",
        {"out": [2, 1, 0, 3], "game_over": True, "loser": 3, "next": None,
         "places": [3, 2, 1, 4], "points": [1.0, 2.0, 3.0, 0.0]},
        {**EMPTY, "out": [2, 1]}),
    Row("S37", "winner: one point for the first", {"points": "winner"}, "9H", "7H", "9H",
        {"points": [0.0, 0.0, 1.0, 0.0]}, {**EMPTY, "out": [2, 1]}),
    Row("S37", "a list: one number a place", {"points": [5, 2, 1, -3]}, "9H", "7H", "9H",
        {"points": [1.0, 2.0, 5.0, -3.0]}, {**EMPTY, "out": [2, 1]}),
    Row("S33", "the next one in play has the turn", {}, "9H 3D", "7H", "9H", {"next": 3},
        {"out": [1], "forfeited": [2]}),
]  # fmt: skip

TABLE = {"preset": "author"}
LATE = {"reserve": "", "table_cards": ["8H", "5C"], "other_table_sizes": {"1": 5}}

TABLE_CARDS = [
    Row("S38", "not while the hand has cards", TABLE, "9D", "7H", "+", None, LATE),
    Row("S38", "not while the reserve has cards, either", TABLE, "9D", "7H", "+",
        {"drawn": "3S", "table_left": 2}, {**LATE, "reserve": "3S"}),
    Row("S38", "the last card of the hand: not out", TABLE, "9H", "7H", "9H",
        {"out": [], "next": 1, "hand_size": 0, "table_left": 2}, LATE),
    Row("S38", "one is turned", TABLE, "", "7H", "+",
        {"drawn": "8H", "next": 0, "hand_size": 0, "table_left": 1}, LATE),
    Row("S38", "whatever chance_max", {**TABLE, "chance_max": 0}, "", "7H", "+",
        {"drawn": "8H"}, LATE),
    Row("S38", "one a turn", TABLE, "", "7H", "+", None, {**LATE, "drawn": "9C"}),
    Row("S20", "it fits: it may be laid", TABLE, "", "7H", "9H",
        {"pile": "7H 9H", "out": [], "next": 1, "table_left": 2}, {**LATE, "drawn": "9H"}),
    Row("S38", "it fits: or the pile be taken", TABLE, "", "7H", "-",
        {"hand": "7H 9H", "next": 1}, {**LATE, "drawn": "9H"}),
    Row("S8", "it does not fit", TABLE, "", "7H", "9C", None, {**LATE, "drawn": "9C"}),
    Row("S38", "it does not fit: with the pile to the hand", TABLE, "", "7H", "-",
        {"hand": "7H 9C", "next": 1, "table_left": 2, "drawn": ""}, {**LATE, "drawn": "9C"}),
    Row("S38", "the pile may be taken at once", TABLE, "", "7H", "-", {"hand": "7H"}, LATE),
    Row("S13", "but not an empty one", TABLE, "", "", "-", None, LATE),
    Row("S38", "on an empty pile one must be turned", TABLE, "", "", "+", {"drawn": "8H"}, LATE),
    Row("S22", "a turned two calls", TABLE, "", "7H", "2H>C", {"pile": "7H 2H>C"},
        {**LATE, "drawn": "2H"}),
    Row("S38", "after a turned ten the next one is turned", TABLE, "", "7H", "TH",
        {"pile": "", "next": 0, "table_left": 2, "out": []}, {**LATE, "drawn": "TH"}),
    Row("S38", "out with the last table card", TABLE, "", "7H", "9H", {"out": [0], "next": 1},
        {**LATE, "table_cards": [], "drawn": "9H"}),
    Row("R18", "a turned joker has no free card", {**TABLE, **JOKERS}, "", "7H", "JK8H", None,
        {**LATE, "drawn": "JK"}),
    Row("S19", "free: the turned card is all there is",
        {**TABLE, "chance_commits": False}, "", "7H", "9H", {"pile": "7H 9H"},
        {**LATE, "drawn": "9H"}),
]  # fmt: skip

ROWS = [*LEADING, *FOLLOWING, *CHANCE, *SPECIAL, *FOURS, *GOING_OUT, *TABLE_CARDS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.rule} {row.what}")
def test_rule(row: Row) -> None:
    check_case(row.case())


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row.facts is None],
    ids=lambda row: f"{row.rule} {row.what}",
)
def test_a_refusal_names_its_rule(row: Row) -> None:
    case = row.case()
    answer = {key: value for key, value in case["action"].items() if key != "seat"}
    with pytest.raises(IllegalActionError, match=rf"\[{row.rule}\]$") as error:
        set_up(case).read(msgspec.convert({"id": 1, **answer}, GAME.answer))
    assert error.value.rule == row.rule


CAPPED = [
    ({"hand_sizes": [9, 3, 0, 5], "out": [2]}, {"finish": [2, 1, 3, 0], "loser": 0}),
    ({"hand_sizes": [5, 3, 0, 5], "out": [2]},
     {"finish": [2, 1, [0, 3]], "shared": [[0, 3]], "points": [0.5, 2.0, 3.0, 0.5]}),
    ({"hand_sizes": [5, 3, 0, 5], "out": [2]}, {"places": [3, 2, 1, 3]}),
    ({"hand_sizes": [5, 3, 0, 5], "out": [2]}, {"places": [3.5, 2, 1, 3.5]}),
    ({"hand_sizes": [5, 3, 0, 4], "table_sizes": [0, 5, 0, 5], "out": [2]},
     {"finish": [2, 0, 1, 3]}),
    ({"hand_sizes": [5, 0, 0, 4], "out": [2], "forfeited": [1]},
     {"finish": [2, 3, 0, 1], "points": [1.0, 0.0, 3.0, 2.0]}),
]  # fmt: skip


@pytest.mark.parametrize(("action", "facts"), CAPPED)
def test_the_turns_run_out(action: dict[str, Any], facts: dict[str, Any]) -> None:
    check_case({"config": {}, "action": {"event": "capped", **action}, "legal": True,
                "expect": facts})  # fmt: skip


@pytest.mark.parametrize("part", ["state", "action", "expect"])
def test_a_case_with_an_unknown_key_fails(part: str) -> None:
    case = Row("S8", "the same suit", {}, "9H KC", "4C 7H", "9H", {"next": 1}).case()
    case[part]["unheard_of"] = 1
    with pytest.raises(AssertionError):
        check_case(case)


def test_a_case_whose_finish_is_another_fails() -> None:
    for finish in ([1, 2, 3, 0], [2, 1, [3, 0]], [2, 1, 3]):
        case = {"config": {}, "action": {"event": "capped", "hand_sizes": [9, 3, 0, 5], "out": [2]},
                "legal": True, "expect": {"finish": finish}}  # fmt: skip
        with pytest.raises(AssertionError):
            check_case(case)
