"""Deals of Speahx that test a bot on each rule, and the plays that wrong rules would allow."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

from tourney_runner.games.rule_probes import BuiltDeal, RuleProbes
from tourney_runner.games.speahx.actions import CHANCE, Action
from tourney_runner.games.speahx.cards import (
    EMPTY,
    JACK,
    LAID_NAMES,
    NUMBERS,
    RANK,
    RANK_OF_JOKER,
    SUIT,
    SUITS,
    TEN,
    TWO,
    pack,
)
from tourney_runner.games.speahx.options import HAND, SpeahxOptions
from tourney_runner.games.speahx.plays import grammar_of
from tourney_runner.games.speahx.position import Table, deal
from tourney_runner.games.speahx.state import SpeahxState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

__all__ = ["SpeahxProbes"]

_SPECIAL = {TWO: "two", TEN: "ten", JACK: "jack", RANK_OF_JOKER: "joker"}
_ONE_POINT = {
    "S17": "a second card with a chance card",
    "S19": "a card of the hand after a chance card",
    "R18": "a card that is not in the hand",
}
"""Rules that all cards break in the same way."""
_PRINTED_SUIT = {
    number: SUITS.index(name[1]) for name, number in LAID_NAMES.items() if name[0] == "2"
}
"""The printed suit of every two, with or without a call."""
_DRAINED = 0.15
"""The share of deals in which the reserve runs out."""
_LONGEST = 40
"""The number of actions for each player after which a deal is given up."""
_WIDE = 7
"""The largest hand for which all orders of cards are tried."""


class SpeahxProbes(RuleProbes[SpeahxOptions]):
    """Probes with leads and plays on a chosen pile, including the cards drawn next."""

    def deals(self, options: SpeahxOptions, chance: Random) -> Iterator[BuiltDeal]:
        """See `RuleProbes.deals`."""
        while True:
            drained = _drained(options, chance) if chance.random() < _DRAINED else None
            yield drained or _built(options, chance)

    def attempts(self, state: SpeahxState) -> Iterator[dict[str, Any]]:
        """See `RuleProbes.attempts`."""
        yield {"pass": True}
        yield {"chance": True}
        view = state.observation(state.current_player)
        cards = [*view.hand, *([] if set(view.drawn) <= set(view.hand) else view.drawn)]
        longest = 3 if len(cards) <= _WIDE else 1
        for length in range(1, longest + 1):
            for play in dict.fromkeys(permutations(cards, length)):
                two = play[-1][0] == "2"
                yield {"play": [*play], **({"suit": "S"} if two else {})}
                if length == 1:
                    yield {"play": [*play], **({} if two else {"suit": "S"})}

    def point(self, state: SpeahxState, attempt: dict[str, Any], rule: str) -> str:
        """See `RuleProbes.point`."""
        if "play" not in attempt:
            return f"{rule}: {'taking the pile' if 'pass' in attempt else 'drawing a card'}"
        view = state.observation(state.current_player)
        cards = [NUMBERS[name] for name in attempt["play"]]
        top = LAID_NAMES[view.pile[-1]] if view.pile else EMPTY
        if rule == "S8":
            return f"{rule}: {_kind(cards[0])} on {_lying(cards[0], top)}"
        if rule == "S22":
            called = "a call without a two" if "suit" in attempt else "a two without a call"
            return f"{rule}: {called}"
        if rule in _ONE_POINT:
            return f"{rule}: {_ONE_POINT[rule]}"
        where = "in a lead" if top == EMPTY else "on the pile"
        return f"{rule}: {_kind(cards[-1])} after {_kind(cards[-2])} {where}"

    def kinds(self, state: SpeahxState, action: Action) -> tuple[str, ...]:
        """See `RuleProbes.kinds`."""
        if action.kind == "pass":
            return ("taking the pile",)
        if action.kind == "chance":
            reserve = state.observation(state.current_player).reserve
            return ("drawing a chance card" if reserve else "turning a table card",)
        kinds = [f"laying a {_kind(card)}" for card in action.cards if RANK[card] in _SPECIAL]
        if len(action.cards) > 1:
            kinds.append("laying several cards")
        return tuple(dict.fromkeys(kinds)) or ("laying a plain card",)


def _kind(card: int) -> str:
    return _SPECIAL.get(RANK[card], "plain card")


def _lying(card: int, top: int) -> str:
    """Return a name for the top card, including what a player might mistake it for."""
    if RANK[top] == TWO:
        printed = SUIT[card] == _PRINTED_SUIT[top]
        return "a two of its printed suit" if printed else "a two"
    return f"a {_kind(top)}"


def _built(options: SpeahxOptions, chance: Random) -> BuiltDeal:
    """Build a deal in which the players before the bot make a pile that suits the bot's cards."""
    players = options.players
    dealer = chance.randrange(players)
    before = min(chance.choice((0, 1, 1, 1, 2, 3)), players - 1)
    seat = (dealer + 1 + before) % players
    cards = pack(options.deck_count(), jokers=options.jokers)
    chance.shuffle(cards)
    hands = [sorted(_hand(chance, cards)) for _ in range(players)]
    face_down = [[cards.pop() for _ in range(options.table_cards)] for _ in range(players)]

    def start() -> SpeahxState:
        table = Table(
            hands=[[*hand] for hand in hands],
            face_down=[[*hidden] for hidden in face_down],
            reserve=[*cards],
            dealer=dealer,
            seat=(dealer + 1) % players,
        )
        return SpeahxState(options, table)

    script = _pile(start(), before, chance)
    fits = grammar_of(options).fits[_top(_after(start(), script))]
    # A player before the bot refills from the top of the reserve, the end of the list, so its
    # order may be changed only if no card has been drawn.
    if len(_after(start(), script).observation(seat).pile) and chance.random() < 0.7:
        _make_unfit(hands, seat, cards, fits)
    drawn_before = len(cards) - _after(start(), script).observation(seat).reserve
    if not drawn_before and chance.random() < 0.6:  # the card drawn first does not fit
        cards.sort(key=lambda card: not fits >> card & 1)
    return BuiltDeal(start, script, seat, _draws(_after(start(), script), chance))


def _drained(options: SpeahxOptions, chance: Random) -> BuiltDeal | None:
    """Build a deal in which everybody draws until the bot may draw no more; None if it may.

    The bot's later turns come with an empty reserve, with table cards that it may not turn yet, or
    with all chances of a deal used.
    """
    seat, seed = chance.randrange(options.players), chance.getrandbits(32)
    dealer = chance.randrange(options.players)

    def start() -> SpeahxState:
        return SpeahxState(options, deal(options, seed, dealer))

    state = start()
    own: list[Action] = []
    for _ in range(_LONGEST * options.players):
        if state.is_terminal():
            return None
        view = state.observation(seat)
        if state.current_player == seat and view.pile and not view.drawn and not view.chances:
            return BuiltDeal(start, (), seat, tuple(own), _drawing, len(own) + 6)
        action = _drawing(state)
        if state.current_player == seat:
            own.append(action)
        state.apply_action(action)
    return None


def _drawing(state: SpeahxState) -> Action:
    """Return the action of a player who draws all chance cards, and then lays a card."""
    if state.observation(state.current_player).chances:
        return CHANCE
    legal = state.legal_actions("canonical").actions
    laid = [one for one in legal if one.kind == "play" and RANK[one.cards[-1]] != TEN]
    return laid[0] if laid else state.fallback_action()


def _hand(chance: Random, cards: list[int]) -> list[int]:
    """Take five cards, favouring special cards and relatives of the last card."""
    hand: list[int] = []
    for _ in range(HAND):
        choice = [card for card in cards if RANK[card] in _SPECIAL]
        if hand and chance.random() < 0.4:
            choice = [
                card
                for card in cards
                if RANK[card] == RANK[hand[-1]] or SUIT[card] == SUIT[hand[-1]]
            ]
        elif chance.random() < 0.6:
            choice = cards
        card = chance.choice(choice or cards)
        cards.remove(card)
        hand.append(card)
    return hand


def _pile(state: SpeahxState, plays: int, chance: Random) -> tuple[Action, ...]:
    """Return the first players' actions. Each player lays cards if possible."""
    script: list[Action] = []
    for _ in range(plays):
        seat = state.current_player
        laid = [one for one in state.legal_actions("canonical").actions if one.kind == "play"]
        # A ten clears the pile and lets its player act again.
        laid = [one for one in laid if RANK[one.cards[-1]] != TEN]
        action = chance.choice(laid) if laid else state.fallback_action()
        state.apply_action(action)
        script.append(action)
        if state.current_player == seat:
            break
    return tuple(script)


def _after(state: SpeahxState, script: Sequence[Action]) -> SpeahxState:
    for action in script:
        state.apply_action(action)
    return state


def _top(state: SpeahxState) -> int:
    pile = state.observation(0).pile
    return LAID_NAMES[pile[-1]] if pile else EMPTY


def _make_unfit(hands: list[list[int]], seat: int, reserve: list[int], fits: int) -> None:
    """Exchange fitting cards of a hand for cards at the bottom of the reserve that do not fit."""
    places = [place for place, card in enumerate(reserve) if not fits >> card & 1]
    for number, card in enumerate(hands[seat]):
        if fits >> card & 1 and places:
            place = places.pop(0)
            hands[seat][number], reserve[place] = reserve[place], card
    hands[seat].sort()


def _draws(state: SpeahxState, chance: Random) -> tuple[Action, ...]:
    """Return chance cards for the bot to draw, up to the number it may draw."""
    draws = []
    for _ in range(chance.choice((0, 0, 1, 2, 3))):
        if CHANCE not in state.legal_actions("canonical").actions:
            break
        state.apply_action(CHANCE)
        draws.append(CHANCE)
    return tuple(draws)
