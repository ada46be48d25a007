"""The lists of plays and the checker of one play, against the rules written down once more.

The oracle knows cards as text and tries every order of every part of the hand.
"""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tourney_runner.games.base import IllegalActionError
from tourney_runner.games.speahx import GAME
from tourney_runner.games.speahx.actions import Action, SpeahxAnswer, encode
from tourney_runner.games.speahx.canonical import Removal
from tourney_runner.games.speahx.cards import LAID_NAMES, NAMES, NUMBERS, RANK
from tourney_runner.games.speahx.position import Table
from tourney_runner.games.speahx.state import SpeahxState

few_cards = st.sampled_from([rank + suit for rank in "2TJ8K" for suit in "SCH"])
options = st.fixed_dictionaries(
    {
        "players": st.just(3),
        "decks": st.sampled_from([1, 2, 3]),
        "jokers": st.booleans(),
        "lead_chain": st.sampled_from(
            ["first_suit_or_rank", "same_rank", "previous_suit_or_rank", "single"]
        ),
        "follow_multi": st.sampled_from(["same_rank", "identical", "first_suit_or_rank", "single"]),
        "chance_commits": st.booleans(),
        "two_wild": st.booleans(),
        "ten_wild": st.booleans(),
        "jack_wild": st.booleans(),
        "quad_scope": st.sampled_from(["top_run", "single_play", "anywhere", "off"]),
    }
)


@st.composite
def positions(draw: st.DrawFn, most_cards: int = 5) -> SpeahxState:
    rules = GAME.options(**draw(options))
    card = st.one_of(few_cards, st.just("JK")) if rules.jokers else few_cards
    laid = st.one_of(card, st.sampled_from(["2S>H", "2H>C"]))
    hand = draw(st.lists(card, min_size=1, max_size=most_cards))
    drawn = draw(st.lists(card, max_size=2))
    assume(max(Counter(hand + drawn).values()) <= rules.decks)
    table = Table(
        hands=[sorted(NUMBERS[card] for card in hand), [0], [0]],
        reserve=[0, 1, 2],
        dealer=2,
        seat=0,
        pile=[LAID_NAMES[card] for card in draw(st.lists(laid, max_size=5))],
        drawn=[NUMBERS[card] for card in drawn],
    )
    return SpeahxState(rules, table)


class Oracle:
    """The rules S6-S11, S17, S19, S28-S32 as sentences about a whole play."""

    def __init__(self, state: SpeahxState) -> None:
        self.rules = state.options
        view = state.observation(0)
        self.top = view.pile[-1] if view.pile else None
        self.drawn = list(view.drawn)
        self.alone = bool(self.drawn) and self.rules.chance_commits
        self.hand = list(view.hand)

    def sequences(self) -> set[tuple[str, ...]]:
        """All ways to take cards, in order, from where they must be taken."""
        if not self.alone:
            return {
                cards
                for size in range(1, len(self.hand) + 1)
                for cards in permutations(self.hand, size)
            }
        return {
            (first, *cards)
            for first in self.drawn
            for size in range(len(self.hand) + 1)
            for cards in permutations(self.hand, size)
        }

    def plays(self) -> set[tuple[str, ...]]:
        return {cards for cards in self.sequences() if self.is_play(cards)}

    def is_play(self, cards: tuple[str, ...]) -> bool:
        """A chain of some length whose last card may bring free cards, one bringing the next."""
        return self.fits(cards[0]) and any(
            self.is_chain(cards[:length])
            and all(self.brings(card) for card in cards[length - 1 : -1])
            for length in range(1, len(cards) + 1)
        )

    def brings(self, card: str) -> bool:
        return card == "JK" if self.rules.jokers else card[0] == "J"

    def fits(self, card: str) -> bool:
        wild = {
            "2": self.rules.two_wild,
            "T": self.rules.ten_wild,
            "J": self.rules.jack_wild and not self.rules.jokers,
        }
        if self.top is None or self.brings(self.top) or card == "JK":
            return True
        return wild.get(card[0], False) or card[0] == self.top[0] or card[1] == self.top[-1]

    def is_chain(self, cards: tuple[str, ...]) -> bool:
        if len(cards) > 1 and "JK" in cards:
            return False
        mode = self.rules.lead_chain if self.top is None else self.rules.follow_multi
        if self.alone:
            mode = "single"
        linked = all(self.links(mode, cards, index) for index in range(1, len(cards)))
        specials = [card for card in cards if card[0] in "2T" or self.brings(card)]
        # The specials are the last cards, and of one rank.
        closing = cards[len(cards) - len(specials) :]
        return linked and list(closing) == specials and len({card[0] for card in specials}) <= 1

    def links(self, mode: str, cards: tuple[str, ...], index: int) -> bool:
        first, before, card = cards[0], cards[index - 1], cards[index]
        return {
            "single": False,
            "same_rank": card[0] == first[0],
            "identical": card == first == (self.top or "")[:2],
            "first_suit_or_rank": card[0] == first[0] or card[1] == first[1],
            "previous_suit_or_rank": card[0] == before[0] or card[1] == before[1],
        }[mode]


def read(state: SpeahxState, cards: tuple[str, ...], suit: str | None) -> Action | None:
    try:
        return state.read(SpeahxAnswer(id=1, play=cards, suit=suit))
    except IllegalActionError:
        return None


def plays_of(state: SpeahxState, mode: Any) -> tuple[list[Action], bool]:
    legal = state.legal_actions(mode)
    return [action for action in legal.actions if action.kind == "play"], legal.complete


def kind(state: SpeahxState, action: Action) -> tuple[Any, ...]:
    """Return the properties by which the short list tells plays apart."""
    four = Removal(state._table.pile, state.options.quad_scope).completes(action.cards)
    return four, len(action.cards), action.cards[-1], action.suit


@given(positions())
@settings(max_examples=200)
def test_list_checker_and_rules_agree(state: SpeahxState) -> None:
    oracle = Oracle(state)
    expected = oracle.plays()
    plays, complete = plays_of(state, "all")
    assert complete
    assert len(set(plays)) == len(plays)
    assert {tuple(NAMES[card] for card in play.cards) for play in plays} == expected
    for cards in oracle.sequences():
        suits = "SCDH" if cards[-1][0] == "2" else (None,)
        for suit in suits:
            assert (read(state, cards, suit) in plays) == (cards in expected)


@given(positions(most_cards=6))
@settings(max_examples=200)
def test_the_short_list_has_each_kind_of_play_once(state: SpeahxState) -> None:
    plays, complete = plays_of(state, "all")
    short, short_complete = plays_of(state, "canonical")
    assert set(short) <= set(plays) or not complete
    kinds = [kind(state, play) for play in short]
    assert len(set(kinds)) == len(kinds)
    if complete and short_complete:
        assert set(kinds) == {kind(state, play) for play in plays}
    assert short_complete


@given(positions())
def test_chance_and_pass_are_listed_when_they_may_be_answered(state: SpeahxState) -> None:
    for mode in ("all", "canonical"):
        listed = {action.kind for action in state.legal_actions(mode).actions}
        for word, answer in (
            ("pass", SpeahxAnswer(id=1, pass_=True)),
            ("chance", SpeahxAnswer(id=1, chance=True)),
        ):
            try:
                state.read(answer)
            except IllegalActionError:
                assert word not in listed
            else:
                assert word in listed


def long_lead() -> SpeahxState:
    hearts = [card for card in range(52) if NAMES[card][1] == "H"]
    table = Table(hands=[hearts, [0]], reserve=[1], dealer=1, seat=0)
    return SpeahxState(GAME.options(players=2), table)


def test_a_long_list_is_cut_and_says_so() -> None:
    plays, complete = plays_of(long_lead(), "all")
    assert len(plays) == 1000
    assert not complete
    lengths = [len(play.cards) for play in plays]
    assert lengths == sorted(lengths)
    singles = [encode(play) for play in plays if len(play.cards) == 1]
    assert singles == ["2H>S", "2H>C", "2H>D", "2H>H", "3H", "4H", "5H", "6H", "7H", "8H", "9H",
                       "TH", "JH", "QH", "KH", "AH"]  # fmt: skip


def test_the_short_list_of_a_long_lead_reaches_its_longest_play() -> None:
    plays, complete = plays_of(long_lead(), "canonical")
    assert complete
    # Nine plain hearts, then the jack and its free card: a two or a ten.
    longest = max(plays, key=lambda play: len(play.cards))
    assert len(longest.cards) == 12
    assert {RANK[play.cards[-1]] for play in plays if len(play.cards) == 12} == {0, 8}


def lead(cards: list[int], **rules: Any) -> SpeahxState:
    table = Table(hands=[sorted(cards), [0], [0]], reserve=[1], dealer=2, seat=0)
    return SpeahxState(GAME.options(players=3, **rules), table)


@pytest.mark.parametrize("mode", ["all", "canonical"])
@pytest.mark.parametrize("size", [60, 100, 140])
def test_no_list_is_endless(mode: Any, size: int) -> None:
    pack = [*range(52)] * 3
    Random(size).shuffle(pack)
    state = lead(pack[:size], decks=3)
    listed = state.legal_actions(mode)
    plays = [action for action in listed.actions if action.kind == "play"]
    assert len(plays) <= 1000
    assert len(msgspec.json.encode([state.write(action) for action in listed.actions])) < 1 << 16
    assert not listed.complete
    assert "left out" in listed.left_out
    assert {action.cards for action in plays if len(action.cards) == 1} == {
        (card,) for card in pack[:size]
    }


def test_the_short_list_of_an_ordered_chain_has_each_kind() -> None:
    """A hand of which a search that keeps one play of each kind misses some."""
    state = lead([NUMBERS[card] for card in ("3S", "6S", "AS", "3H", "6D")],
                 lead_chain="previous_suit_or_rank")  # fmt: skip
    plays, _ = plays_of(state, "all")
    short, complete = plays_of(state, "canonical")
    assert complete
    assert {kind(state, play) for play in short} == {kind(state, play) for play in plays}


def test_a_long_ordered_chain_says_that_some_plays_are_not_listed() -> None:
    state = lead([*range(0, 52, 2)], lead_chain="previous_suit_or_rank")
    listed = state.legal_actions("canonical")
    assert "too many orders" in listed.left_out
    assert len(listed.actions) <= 1001


@pytest.mark.parametrize("mode", ["all", "canonical"])
def test_a_finished_deal_has_no_actions(mode: Any) -> None:
    table = Table(hands=[[0], [0]], reserve=[], dealer=1, seat=0, turns=500)
    assert SpeahxState(GAME.options(players=2), table).legal_actions(mode).actions == ()
