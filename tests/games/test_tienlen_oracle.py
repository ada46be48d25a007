"""The fast tables against the plain rules of `tienlen_oracle`, on all kinds of positions."""

from __future__ import annotations

from typing import NamedTuple

import tienlen_oracle as oracle
from hypothesis import given
from hypothesis import strategies as st
from tourney_runner.games.base import IllegalActionError
from tourney_runner.games.tienlen.cards import cards_in, mask_from
from tourney_runner.games.tienlen.options import TienlenOptions
from tourney_runner.games.tienlen.state import PASS, Position, TienlenState
from tourney_runner.games.tienlen.views import TienlenAnswer

options = st.builds(
    TienlenOptions,
    equal_rank_sets=st.sampled_from(["suit", "tie"]),
    double_sequence_answer=st.sampled_from(["same_length", "longer_wins"]),
    bomb_hierarchy=st.sampled_from(["none", "southern"]),
    quad_beats_pair_of_twos=st.booleans(),
    bombs_may_lead=st.booleans(),
)


class Situation(NamedTuple):
    rules: TienlenOptions
    hand: list[str]
    table: oracle.Cards | None
    must: str | None

    def state(self) -> TienlenState:
        return TienlenState(
            self.rules,
            Position(
                hands=[mask_from(self.hand), 0, 0, 0],
                sizes=[len(self.hand), 5, 5, 5],
                turn=0,
                table=mask_from(self.table or ()),
                owner=3,
                must=mask_from([self.must] if self.must else ()),
            ),
        )

    def legal(self) -> set[oracle.Cards]:
        return oracle.legal_plays(self.hand, self.table, self.must, self.rules)


@st.composite
def situations(draw: st.DrawFn, most_cards: int = 10) -> Situation:
    """Leading, opening or following, with a hand that often has something of the kind."""
    hand = draw(hands(most_cards))
    role = draw(st.sampled_from(["lead", "open", "follow", "follow", "follow"]))
    shapes = {
        (made.kind, made.length) for made in map(oracle.combination, oracle.subsets(hand)) if made
    }
    shape = draw(st.sampled_from(sorted(shapes)) | st.sampled_from(sorted(_COMBINATIONS)))
    table = draw(st.sampled_from(_COMBINATIONS[shape]))
    return Situation(
        rules=draw(options),
        hand=hand,
        table=table if role == "follow" else None,
        must=min(hand, key=oracle.PACK.index) if role == "open" else None,
    )


@st.composite
def hands(draw: st.DrawFn, most_cards: int) -> list[str]:
    """Cards of a few neighbouring ranks, so that sequences and sets are common, and 2s."""
    lowest = draw(st.integers(0, 9))
    ranks = [*oracle.RANKS[lowest : lowest + draw(st.integers(1, 6))], "2"]
    cards = [rank + suit for rank in ranks for suit in oracle.SUITS]
    return draw(st.lists(st.sampled_from(cards), min_size=1, max_size=most_cards, unique=True))


def _combinations() -> dict[tuple[str, int], list[oracle.Cards]]:
    """Combinations by kind and length; those of several ranks with a few choices of suits."""
    found = [
        cards
        for rank in oracle.RANKS
        for cards in oracle.subsets(rank + suit for suit in oracle.SUITS)
    ]
    for start in range(10):
        for end in range(start + 3, 13):
            *lower, top = oracle.RANKS[start:end]
            found += [frozenset([*(rank + "C" for rank in lower), top + suit]) for suit in "SCDH"]
            pairs = [rank + suit for rank in lower for suit in "SD"]
            found += [frozenset([*pairs, top + "S", top + suit]) for suit in "CDH"]
    by_shape: dict[tuple[str, int], list[oracle.Cards]] = {}
    for cards in found:
        made = oracle.combination(cards)
        assert made is not None
        by_shape.setdefault((made.kind, made.length), []).append(cards)
    return by_shape


_COMBINATIONS = _combinations()


def _listed(state: TienlenState) -> list[oracle.Cards]:
    return [frozenset(cards_in(play)) for play in state.legal_actions().actions if play != PASS]


@given(situations())
def test_listed_plays_are_those_of_the_rules(situation: Situation) -> None:
    listed = _listed(situation.state())
    assert len(listed) == len({*listed})
    assert {*listed} == situation.legal()


@given(situations(most_cards=8))
def test_the_checker_takes_the_plays_of_the_rules_and_no_others(situation: Situation) -> None:
    state = situation.state()
    legal = situation.legal()
    for cards in oracle.subsets(situation.hand):
        try:
            read = state.read(TienlenAnswer(id=1, play=tuple(cards)))
        except IllegalActionError:
            assert cards not in legal
        else:
            assert cards in legal
            assert read == mask_from(cards)


@given(situations())
def test_the_canonical_list_has_one_play_of_each_kind_length_and_top_card(
    situation: Situation,
) -> None:
    state = situation.state()
    canonical = [play for play in state.legal_actions("canonical").actions if play != PASS]
    made = [oracle.combination(frozenset(cards_in(play))) for play in canonical]
    assert len(made) == len({*made})
    assert {*made} == {oracle.combination(play) for play in _listed(state)}
    assert {*canonical} <= {*state.legal_actions().actions}


@given(situations())
def test_passing_is_listed_when_there_is_something_to_beat(situation: Situation) -> None:
    listed = situation.state().legal_actions().actions
    assert (PASS in listed) == (situation.table is not None)
