"""The state of a Speahx deal in progress."""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING, Any, Literal, Self

from tourney_runner.games.base import TERMINAL, LegalActions, State
from tourney_runner.games.speahx.actions import CHANCE, PASS, Action, SpeahxAnswer, parse, write
from tourney_runner.games.speahx.canonical import canonical_plays
from tourney_runner.games.speahx.cards import (
    JACK,
    PRINTED,
    RANK,
    RANK_OF_JOKER,
    SUIT,
    SUITS,
    TEN,
    TWO,
    called,
)
from tourney_runner.games.speahx.messages import describe
from tourney_runner.games.speahx.move_check import MoveChecker
from tourney_runner.games.speahx.options import HAND, SpeahxOptions
from tourney_runner.games.speahx.plays import all_plays
from tourney_runner.games.speahx.position import four_of_a_kind, places, points
from tourney_runner.games.speahx.views import SpeahxEvent, SpeahxView, names, scene

if TYPE_CHECKING:
    from tourney_runner.games.base import Scene
    from tourney_runner.games.speahx.position import Table

__all__ = ["SpeahxState"]

_KEPT = {JACK: 1, TEN: 2, TWO: 3, RANK_OF_JOKER: 4}
"""The ranks that the fallback action keeps longest (S40), with their order."""


class SpeahxState(State[Action]):
    """A deal, playable from any position to its end.

    Args:
        options: The rules.
        table: The position, such as one from `games.speahx.position.deal`. The state owns it.
    """

    def __init__(self, options: SpeahxOptions, table: Table) -> None:
        self.players = options.players
        self.options = options
        self._table = table
        self._referee = MoveChecker(options, table)
        # Read once, as attributes of a pydantic model are several times slower than plain ones.
        self._decks = options.deck_count()
        self._refill_each_turn = options.refill == "each_turn"
        self._quad_scope = options.quad_scope
        self._chance_max = options.chance_max
        self._chance_commits = options.chance_commits
        self._has_table_cards = bool(options.table_cards)
        self._turn_cap = options.turn_cap()
        if table.turns >= self._turn_cap:
            table.seat = TERMINAL

    def clone(self) -> Self:
        """Return an independent copy."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._table = table = self._table.clone()
        twin._referee = self._referee.at(table)
        return twin

    def __deepcopy__(self, memo: Any) -> Self:
        return self.clone()

    def __reduce__(self) -> tuple[type[Self], tuple[SpeahxOptions, Table]]:
        return type(self), (self.options, self._table)

    # What may be done

    @property
    def current_player(self) -> int:
        """Return the seat to act, or `TERMINAL`."""
        return self._table.seat

    def legal_actions(self, mode: Literal["all", "canonical"] = "all") -> LegalActions[Action]:
        """Return the legal actions: plays, then a chance card, then taking the pile.

        ``all`` is cut after a thousand plays, short ones first. ``canonical`` has one play for each
        length, last card, call, and whether it completes a four of a kind.
        """
        if self._table.seat == TERMINAL:
            return LegalActions(())
        turn, grammar = self._referee.turn(), self._referee.grammar
        if mode == "all":
            actions, left_out = all_plays(turn, grammar)
        else:
            actions, left_out = canonical_plays(turn, grammar, self._table.pile, self._quad_scope)
        if self._referee.chance_error() is None:
            actions.append(CHANCE)
        if self._referee.pass_error() is None:
            actions.append(PASS)
        return LegalActions(tuple(actions), left_out)

    def read(self, answer: SpeahxAnswer) -> Action:
        """Return the action of an answer if it is legal now.

        Raises:
            MalformedAnswerError: It is not an action in any position.
            IllegalActionError: The rules forbid it here.
        """
        action = parse(answer)
        self._referee.check(action)
        return action

    def write(self, action: Action) -> dict[str, Any]:
        """Return the answer for an action, without its id."""
        return write(action)

    def fallback_action(self) -> Action:
        """Return a pass or, on an empty pile, a play of a drawn or the least useful card (S40).

        Raises:
            ValueError: The deal is over.
        """
        table = self._table
        if table.seat == TERMINAL:
            raise ValueError("the deal is over")
        if table.pile:
            return PASS
        cards = table.drawn or table.hands[table.seat]
        if not cards:
            return CHANCE
        card = min(cards, key=lambda card: (_KEPT.get(RANK[card], 0), card))
        return Action("play", (card,), SUIT[card] if RANK[card] == TWO else None)

    # What happens

    def apply_action(self, action: Action) -> SpeahxEvent:
        """Apply an action returned by `read` or `legal_actions`, and return the public event."""
        if action.kind == "play":
            return self._lay(action)
        if action.kind == "pass":
            return self._take_pile()
        return self._draw()

    def forfeit(self, seat: int) -> SpeahxEvent:
        """Take a player out of this deal. All the player's cards leave the game (S39).

        Raises:
            ValueError: The deal is over, or the seat is already out.
        """
        table = self._table
        if table.seat == TERMINAL or not table.in_play[seat]:
            raise ValueError(f"seat {seat} is not in play")
        taken = [table.hands[seat], table.face_down[seat]]
        if seat == table.seat:
            taken.append(table.drawn)
        removed = sum(map(len, taken))
        for cards in taken:
            cards.clear()
        table.in_play[seat] = False
        table.forfeited.append(seat)
        return SpeahxEvent(
            seat=seat, action="forfeit", removed=removed, next=table.pass_turn(again=True)
        )

    def _lay(self, action: Action) -> SpeahxEvent:
        """Lay the cards; then come effects, refill, going out and the turn, in order (S33a)."""
        table, cards = self._table, action.cards
        seat = table.seat
        hand = table.hands[seat]
        if table.drawn:
            self._keep_drawn()
        for card in cards:
            hand.remove(card)
        table.pile += cards
        if action.suit is not None:
            table.pile[-1] = called(cards[-1], action.suit)
        again = RANK[cards[-1]] == TEN
        removed = self._remove_pile() if again else self._remove_four(len(cards))
        drew = self._refill(hand)
        out = not hand and not table.face_down[seat]
        if out:
            table.in_play[seat] = False
            table.out.append(seat)
        return SpeahxEvent(
            seat=seat,
            action="play",
            play=names(cards),
            suit=None if action.suit is None else SUITS[action.suit],
            removed=removed,
            drew=drew,
            out=out,
            next=self._end_turn(again=again),
        )

    def _take_pile(self) -> SpeahxEvent:
        table = self._table
        seat, took = table.seat, len(table.pile)
        table.hands[seat] += [PRINTED[card] for card in table.pile]
        table.pile.clear()
        self._keep_drawn()
        return SpeahxEvent(seat=seat, action="pass", took=took, next=self._end_turn(again=False))

    def _draw(self) -> SpeahxEvent:
        table = self._table
        seat, turned = table.seat, not table.reserve
        if turned:
            table.drawn.append(table.face_down[seat].pop())
        else:
            table.drawn.append(table.reserve.pop())
            table.chances[seat] += 1
        return SpeahxEvent(seat=seat, action="chance", table=turned, next=seat)

    def _keep_drawn(self) -> None:
        hand = self._table.hands[self._table.seat]
        hand += self._table.drawn
        hand.sort()
        self._table.drawn.clear()

    def _remove_pile(self) -> int:
        removed = len(self._table.pile)
        self._table.pile.clear()
        return removed

    def _remove_four(self, played: int) -> int:
        pile = self._table.pile
        four = four_of_a_kind(pile, played, self._quad_scope)
        if four and self._decks == 1:
            return self._remove_pile()
        for place in reversed(four):
            del pile[place]
        return len(four)

    def _refill(self, hand: list[int]) -> int:
        """Draw up to five cards if the rules require it (R20, S14)."""
        if hand and not self._refill_each_turn:
            return 0
        drew = max(0, min(HAND - len(hand), len(self._table.reserve)))
        for _ in range(drew):
            insort(hand, self._table.reserve.pop())
        return drew

    def _end_turn(self, *, again: bool) -> int | None:
        table = self._table
        table.turns += 1
        following = table.pass_turn(again=again)
        if table.turns >= self._turn_cap:
            table.seat = TERMINAL
            return None
        return following

    # What is seen

    def hand(self, seat: int) -> list[str]:
        """Return a player's cards, sorted, including drawn cards that have joined them (S19)."""
        return list(names(self._held(seat)))

    def _held(self, seat: int) -> list[int]:
        table = self._table
        if table.drawn and seat == table.seat and not self._chance_commits:
            return sorted(table.hands[seat] + table.drawn)
        return table.hands[seat]

    def observation(self, seat: int) -> SpeahxView:
        """Return everything that a player may know, enough to act without memory."""
        table = self._table
        pile, drawn = names(table.pile), table.drawn
        sizes = tuple(map(len, table.hands))
        if drawn and not self._chance_commits:
            sizes = tuple(len(self._held(each)) for each in range(self.players))
        return SpeahxView(
            seat=seat,
            to_move=None if table.seat == TERMINAL else table.seat,
            hand=names(self._held(seat)),
            drawn=names(drawn) if drawn and seat == table.seat else (),
            drawn_size=len(drawn),
            pile=pile,
            call=pile[-1][3] if pile and len(pile[-1]) > 2 else None,
            reserve=len(table.reserve),
            hand_sizes=sizes,
            table_sizes=tuple(map(len, table.face_down)) if self._has_table_cards else (),
            chances=self._referee.chances(seat),
            out=tuple(table.out),
            forfeited=tuple(table.forfeited),
            turn=table.turns + 1,
            max_turns=self._turn_cap,
            dealer=table.dealer,
        )

    def scene(self) -> Scene:
        """Return the position as a neutral picture with all cards known."""
        return scene(self._table)

    def describe(self, event: SpeahxEvent) -> str:
        """Return a line of plain English about an event of this state."""
        return describe(event)

    # What it comes to

    def places(self) -> tuple[int, ...]:
        """Return the place of each seat, from 1 (S36, S39).

        Raises:
            ValueError: The deal is not over.
        """
        return places(self._finished())

    def returns(self) -> tuple[float, ...]:
        """Return the points of each seat (S37).

        Raises:
            ValueError: The deal is not over.
        """
        return points(self._finished(), self.options.points_by_place())

    def _finished(self) -> Table:
        if self._table.seat != TERMINAL:
            raise ValueError("the deal is not over")
        return self._table

    def next_start(self) -> int:
        """Return the next dealer, the next seat clockwise (R13)."""
        return (self._table.dealer + 1) % self.players
