"""Rules and events in plain sentences, for authors of bots and for replays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.games.base import IllegalActionError
from tourney_runner.games.speahx.cards import (
    EMPTY,
    JACK,
    JOKER,
    NAMES,
    RANK,
    RANKS,
    SUIT,
    SUIT_WORDS,
    SUITS,
    TEN,
    TWO,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tourney_runner.games.speahx.options import SpeahxOptions
    from tourney_runner.games.speahx.plays import Grammar
    from tourney_runner.games.speahx.views import SpeahxEvent

__all__ = ["describe", "misfit", "on_the_pile", "wrong_card"]

_RANK_WORDS = {**{rank: rank for rank in RANKS}, "T": "10", "J": "jack", "Q": "queen", "K": "king",
               "A": "ace"}  # fmt: skip
_CHAIN_WORDS = {
    "first_suit_or_rank": "suit or rank with the first card",
    "previous_suit_or_rank": "suit or rank with the card before it",
    "same_rank": "the rank of the first card",
}


def on_the_pile(top: int) -> str:
    """Return the top card in words."""
    if top == EMPTY:
        return "the pile is empty"
    name, _, call = NAMES[top].partition(">")
    return f"on the pile lies {name}" + (f" with {SUIT_WORDS[call]} called" if call else "")


def misfit(grammar: Grammar, card: int, top: int) -> IllegalActionError:
    """Return the error for a first card that does not fit the pile's top card."""
    expected = [f"one of the {SUIT_WORDS[SUITS[SUIT[top]]]}", _a(_RANK_WORDS[RANKS[RANK[top]]])]
    for wild, word in ((JOKER, "joker"), (JACK << 2, "jack"), (TWO << 2, "2"), (TEN << 2, "10")):
        known = wild != JOKER or grammar.brings_free_card >> JOKER & 1
        if known and grammar.wild >> wild & 1 and _a(word) not in expected:
            expected.append(_a(word))
    *others, last = expected
    return IllegalActionError(
        "S8",
        f"{NAMES[card]} does not fit: {on_the_pile(top)}; "
        f'expected {", ".join(others)} or {last}, or "pass": true to take the pile',
    )


def wrong_card(
    options: SpeahxOptions, grammar: Grammar, cards: Sequence[int], index: int, top: int
) -> IllegalActionError:
    """Return the error for a card after the first that may not be laid there.

    Args:
        options: The rules in force.
        grammar: The grammar of these options.
        cards: The play.
        index: The index of the wrong card, from 1.
        top: The card under the play, or `EMPTY`.
    """
    card, last = NAMES[cards[index]], NAMES[cards[index - 1]]
    if index > 1 and grammar.brings_free_card >> cards[index - 2] & 1:
        joker = NAMES[cards[index - 2]]
        return IllegalActionError(
            "S28", f"{card} may not follow {last}: after {joker} exactly one free card may be laid"
        )
    if cards[index] == JOKER:
        return IllegalActionError(
            "S32", f"JK may not follow {last}: a joker must be the first card of a play"
        )
    if RANK[cards[index - 1]] in (TWO, TEN) and RANK[cards[index]] != RANK[cards[index - 1]]:
        rank = _RANK_WORDS[last[0]]
        return IllegalActionError(
            "S11", f"{card} may not follow {last}: after {_a(rank)} only more of them may be laid"
        )
    return _wrong_link(options, card, cards, top)


def _wrong_link(
    options: SpeahxOptions, card: str, cards: Sequence[int], top: int
) -> IllegalActionError:
    leading = top == EMPTY
    chain = options.lead_chain if leading else options.follow_multi
    doing, rule = ("leading", "S6") if leading else ("following", "S9")
    if chain == "single":
        message = f"only one card may be laid when {doing}"
    elif chain == "identical":
        message = f"several cards must all be twins of the top card, and {on_the_pile(top)}"
    else:
        message = f"when {doing}, each further card must share {_CHAIN_WORDS[chain]}"
    return IllegalActionError(rule, f"{card} does not fit after {NAMES[cards[0]]}: {message}")


def _a(word: str) -> str:
    return f"an {word}" if word in ("8", "ace") else f"a {word}"


def describe(event: SpeahxEvent) -> str:
    """Return a line of plain English about an event."""
    parts = [_deed(event)]
    if event.removed and event.action == "play":
        parts.append(f"{_cards(event.removed)} leave the game")
    if event.drew:
        parts.append(f"draws {_cards(event.drew)}")
    if event.out:
        parts.append("is out of cards")
    if event.next is None:
        parts.append("the deal is over")
    elif event.next == event.seat and event.action == "play":  # otherwise the next seat acts
        parts.append("plays again")
    return "; ".join(parts)


def _deed(event: SpeahxEvent) -> str:
    seat = f"seat {event.seat}"
    if event.action == "play":
        call = f", calling {SUIT_WORDS[event.suit]}" if event.suit else ""
        return f"{seat} lays {' '.join(event.play)}{call}"
    if event.action == "pass":
        return f"{seat} takes the pile of {_cards(event.took)}"
    if event.action == "chance":
        return f"{seat} {'turns a table card' if event.table else 'draws a chance card'}"
    return f"{seat} forfeits and leaves the deal with {_cards(event.removed)}"


def _cards(count: int) -> str:
    return "1 card" if count == 1 else f"{count} cards"
