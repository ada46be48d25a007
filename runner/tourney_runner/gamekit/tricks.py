"""Tricks: each player lays a card, and the highest card takes the trick."""

from __future__ import annotations

import msgspec
from pydantic import Field

from tourney_runner.gamekit.simple import SimpleEvent, SimpleGame, SimpleState
from tourney_runner.games.base import TERMINAL, Answer, GameOptions, Zone, shuffled

__all__ = ["GAME", "Tricks", "TricksState"]

PACK = [rank + suit for rank in "23456789TJQKA" for suit in "SCDH"]


class TricksOptions(GameOptions):
    """The rules that an organiser may choose."""

    players: int = Field(default=3, ge=2, le=4)
    """Players at one table, 2 to 4."""
    cards: int = Field(default=5, ge=1, le=13)
    """Cards dealt to each player."""


class TricksAnswer(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """The answer of a bot."""

    play: tuple[str]
    """The card to lay, in a list of one."""


class TricksEvent(SimpleEvent, frozen=True, kw_only=True, omit_defaults=True):
    """An action as all players see it. It must not contain a card that is still hidden."""

    play: tuple[str, ...] = ()
    """The card laid."""
    taken_by: int | None = None
    """The seat that took the trick, if this action ended it."""


class TricksView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one player may know, enough to act without memory."""

    seat: int
    """The player's own seat."""
    hand: tuple[str, ...]
    """The player's own cards."""
    table: tuple[str, ...]
    """The cards of this trick, in the order in which they were laid."""
    taken: tuple[int, ...]
    """Tricks taken, by seat."""


class TricksState(SimpleState[TricksOptions, TricksAnswer]):
    """A deal in progress."""

    def deal(self) -> None:
        """Deal the cards."""
        pack = shuffled(PACK, self.seed)
        seats = range(self.players)
        self.hands = [pack[seat :: self.players][: self.options.cards] for seat in seats]
        self.table: dict[int, str] = {}
        self.taken = [0] * self.players

    def actions(self) -> list[TricksAnswer]:
        """Return one action for each card of the player to move."""
        return [self.answer(play=(card,)) for card in self.hands[self.turn]]

    def act(self, seat: int, action: TricksAnswer) -> TricksEvent:
        """Lay a card. The last card of a trick ends it."""
        self.hands[seat].remove(action.play[0])
        self.table[seat] = action.play[0]
        return TricksEvent(seat=seat, play=action.play, taken_by=self.move_on(seat))

    def leave(self, seat: int) -> TricksEvent:
        """Drop the cards of a player who forfeits. A card on the table stays there."""
        self.hands[seat].clear()
        taken_by = self.move_on(seat) if seat == self.turn else None
        return TricksEvent(seat=seat, forfeit=True, taken_by=taken_by)

    def move_on(self, seat: int) -> int | None:
        """Set the turn after a seat has acted, and return the winner if the trick is over."""
        winner = None
        self.turn = self.next_seat(seat)
        if self.turn in self.table or not self.hands[self.turn]:
            winner = max(self.table, key=lambda one: PACK.index(self.table[one]))
            self.taken[winner] += 1
            self.table.clear()
            self.turn = winner if self.hands[winner] else self.next_seat(winner)
            if not self.hands[self.turn]:
                self.turn = TERMINAL
        return winner

    def observation(self, seat: int) -> TricksView:
        """Return everything that a player may know."""
        table = tuple(self.table.values())
        hand = tuple(self.hands[seat])
        return TricksView(seat=seat, hand=hand, table=table, taken=tuple(self.taken))

    def scores(self) -> list[int]:
        """Return the tricks taken."""
        return self.taken

    def hand(self, seat: int) -> list[str]:
        """Return the cards of a player."""
        return self.hands[seat]

    def zones(self) -> list[Zone]:
        """Return the cards in the middle of the table."""
        return [Zone("table", tuple(self.table.values()))]


class Tricks(SimpleGame[TricksOptions, TricksAnswer]):
    """The rules of Tricks."""

    name = "tricks"
    title = "Tricks"
    summary = "Each player lays a card, and the highest one takes the trick. Most tricks win."
    options = TricksOptions
    answer = TricksAnswer
    event = TricksEvent
    observation = TricksView
    state = TricksState


GAME = Tricks()
"""The object that the entry point names."""
