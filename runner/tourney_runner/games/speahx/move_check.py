"""The check of a move against the rules, with the error for a forbidden one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tourney_runner.games.base import IllegalActionError
from tourney_runner.games.speahx.cards import NAMES, RANK, TWO
from tourney_runner.games.speahx.messages import misfit, on_the_pile, wrong_card
from tourney_runner.games.speahx.plays import ALONE, Turn, grammar_of

if TYPE_CHECKING:
    from tourney_runner.games.speahx.actions import Action
    from tourney_runner.games.speahx.options import SpeahxOptions
    from tourney_runner.games.speahx.position import Table

__all__ = ["MoveChecker"]


class MoveChecker:
    """A checker for one table under one set of options."""

    def __init__(self, options: SpeahxOptions, table: Table) -> None:
        self.grammar = grammar_of(options)
        self._options = options
        self._table = table
        self._chance_max = options.chance_max
        self._chance_commits = options.chance_commits
        self._per_deal = options.chance_scope == "game"

    def at(self, table: Table) -> MoveChecker:
        """Return a checker with the same rules for another table."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._table = table
        return twin

    def turn(self) -> Turn:
        """Return the cards and rules with which a play is made now."""
        table = self._table
        hand, drawn = table.hands[table.seat], table.drawn
        if drawn and self._chance_commits:
            return Turn(table.top(), ALONE, hand, drawn)
        chain = self.grammar.follow if table.pile else self.grammar.lead
        return Turn(table.top(), chain, hand + drawn if drawn else hand)

    def check(self, action: Action) -> None:
        """Return without an error if an action is legal.

        Raises:
            IllegalActionError: The action is against the rules.
        """
        if action.kind == "play":
            self._check_play(action)
            return
        error = self.pass_error() if action.kind == "pass" else self.chance_error()
        if error is None and action.suit is not None:
            error = IllegalActionError("S22", "a suit may be called with a two only")
        if error is not None:
            raise error

    def pass_error(self) -> IllegalActionError | None:
        """Return the error if the player may not take the pile, else None."""
        if self._table.pile:
            return None
        # A player without a card to lay is still in play only with table cards (S38).
        has_cards = self._table.hands[self._table.seat] or self._table.drawn
        expected = (
            '"play" with the cards to lay' if has_cards
            else '"chance": true, which turns a table card'
        )  # fmt: skip
        return IllegalActionError(
            "S13", f"the pile is empty, so there is nothing to take; expected {expected}"
        )

    def chance_error(self) -> IllegalActionError | None:
        """Return the error if the player may neither draw a chance card nor turn a table card."""
        table = self._table
        fits = self.grammar.fits[table.top()]
        for card in table.drawn:
            if fits >> card & 1:
                return IllegalActionError(
                    "S20",
                    f"{NAMES[card]}, drawn in this turn, fits ({on_the_pile(table.top())}), so no "
                    'further card may be drawn; expected "play" or "pass": true',
                )
        if not table.reserve:
            return self._turning_error()
        allowed, used = self._chance_max, self.chances_used(table.seat)
        if used >= allowed:
            return IllegalActionError(
                "S18",
                f"{used} chance cards have been drawn, and no more than {allowed} may be drawn in "
                f"one {'deal' if self._per_deal else 'turn'}",
            )
        return None

    def chances(self, seat: int) -> int:
        """Return how often a player may still draw a chance card or turn a table card."""
        table = self._table
        if seat == table.seat and table.drawn and self.chance_error() is not None:
            return 0
        if table.reserve:
            left = self._chance_max - self.chances_used(seat)
            return max(0, min(left, len(table.reserve)))
        may_turn = table.face_down[seat] and not table.hands[seat] and table.in_play[seat]
        return 1 if may_turn else 0

    def chances_used(self, seat: int) -> int:
        """Return the number of a player's chance cards that count against `chance_max` (S18)."""
        if self._per_deal:
            return self._table.chances[seat]
        # A card drawn in this turn is still in `drawn`, as laying one ends the turn.
        return len(self._table.drawn) if seat == self._table.seat else 0

    def _turning_error(self) -> IllegalActionError | None:
        table = self._table
        if table.drawn and not table.hands[table.seat]:
            return IllegalActionError("S38", "only one table card may be turned in a turn")
        if not table.face_down[table.seat]:
            return IllegalActionError("S21", "the reserve is empty: there is no chance card")
        if table.hands[table.seat]:
            return IllegalActionError(
                "S38",
                "the reserve is empty, and no table card is turned while the hand has cards; "
                'expected "play" or "pass": true',
            )
        return None

    def _check_play(self, action: Action) -> None:
        turn = self.turn()
        cards = action.cards
        _check_held(cards, turn)
        wrong = self.grammar.first_error(cards, turn.chain, turn.top)
        if wrong is not None:
            raise self._play_error(cards, wrong, turn)
        if (RANK[cards[-1]] == TWO) != (action.suit is not None):
            raise IllegalActionError(
                "S22",
                f"the last card laid is {NAMES[cards[-1]]}: "
                + ("a suit may be called with a two only" if action.suit is not None
                   else 'the suit of the next card must be called: "suit" with S, C, D or H'),
            )  # fmt: skip

    def _play_error(self, cards: tuple[int, ...], wrong: int, turn: Turn) -> IllegalActionError:
        if wrong == 0:
            return misfit(self.grammar, cards[0], turn.top)
        if turn.drawn and wrong == 1:
            return IllegalActionError(
                "S17", f"{NAMES[cards[1]]} may not follow: a chance card is laid alone"
            )
        return wrong_card(self._options, self.grammar, cards, wrong, turn.top)


def _check_held(cards: tuple[int, ...], turn: Turn) -> None:
    """Check that the cards come from the hand, or first from the drawn cards (S17, S19)."""
    hand = turn.hand
    if turn.drawn:
        if cards[0] not in turn.drawn:
            raise IllegalActionError(
                "S19",
                f"{NAMES[cards[0]]} was not drawn in this turn; after drawing, a drawn card must "
                'be laid first ("play"), or the pile taken ("pass": true)',
            )
        cards = cards[1:]
    for card in cards:
        held = hand.count(card)
        if not held:
            raise IllegalActionError("R18", f"{NAMES[card]} is not in the hand")
        if held < len(cards) and held < cards.count(card):
            raise IllegalActionError(
                "R18", f"the play has {NAMES[card]} more often than the hand, which has {held}"
            )
