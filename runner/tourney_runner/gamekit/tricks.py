"""Tricks: everybody lays a card, the highest one takes the trick."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec
from pydantic import Field

from tourney_runner.games.base import (
    TERMINAL,
    Answer,
    Game,
    GameOptions,
    IllegalActionError,
    LegalActions,
    MalformedAnswerError,
    State,
)
from tourney_runner.games.scene import Scene, SeatView, Zone
from tourney_runner.games.shuffle import shuffled

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["GAME", "Tricks", "TricksState"]

PACK = [rank + suit for rank in "23456789TJQKA" for suit in "SCDH"]


class TricksOptions(GameOptions):
    """The rules that an organiser may choose."""

    players: int = Field(default=3, ge=2, le=4)
    """Players at one table, 2 to 4."""
    cards: int = Field(default=5, ge=1, le=13)
    """Cards dealt to each player."""


class TricksAnswer(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """A card of the hand, in a list of one."""

    play: tuple[str, ...] = ()
    """The card to lay."""


class TricksEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What everybody sees of one action; it must not hold a card that is still hidden."""

    seat: int
    """The player who acted."""
    play: tuple[str, ...] = ()
    """The card laid."""
    forfeit: bool = False
    """Whether the player left the deal."""
    taken_by: int | None = None
    """The seat that took the trick, where this ended it."""


class TricksView(msgspec.Struct, frozen=True, kw_only=True):
    """All that one player may know, enough to act without memory."""

    seat: int
    """Whose view it is."""
    hand: tuple[str, ...]
    """The player's own cards."""
    table: tuple[str, ...]
    """The cards of this trick, in the order in which they were laid."""
    taken: tuple[int, ...]
    """Tricks taken, by seat."""


class TricksState(State[str]):
    """A deal in progress. An action is the card to lay."""

    def __init__(self, options: TricksOptions, seed: int, start: int) -> None:
        self.players = options.players
        pack = shuffled(PACK, seed)
        self._hands = [sorted(pack[seat :: self.players][: options.cards], key=PACK.index)
                       for seat in range(self.players)]  # fmt: skip
        self._table: list[tuple[str, int]] = []
        self._taken = [0] * self.players
        self._forfeited: list[int] = []
        self._start = start
        self._turn = start

    @property
    def current_player(self) -> int:
        """The seat to act, or `TERMINAL`."""
        return self._turn

    def legal_actions(self, mode: Literal["all", "canonical"] = "all") -> LegalActions[str]:  # noqa: ARG002 - both lists are short
        """List the cards of the player to move."""
        return LegalActions(() if self._turn == TERMINAL else tuple(self._hands[self._turn]))

    def read(self, answer: TricksAnswer) -> str:
        """Turn an answer into an action that is legal now."""
        if len(answer.play) != 1 or answer.play[0] not in PACK:
            raise MalformedAnswerError('expected "play" with one card, such as ["7H"]')
        card = answer.play[0]
        if card not in self._hands[self._turn]:
            raise IllegalActionError("R1", f"{card} is not in the hand")
        return card

    def write(self, action: str) -> dict[str, Any]:
        """Return the answer that means this action."""
        return {"play": (action,)}

    def apply_action(self, action: str) -> TricksEvent:
        """Lay a card; the last card of a trick ends it."""
        seat = self._turn
        self._hands[seat].remove(action)
        self._table.append((action, seat))
        return TricksEvent(seat=seat, play=(action,), taken_by=self._move_on(seat))

    def forfeit(self, seat: int) -> TricksEvent:
        """Take a player out of the deal; a card that he laid stays."""
        if self._turn == TERMINAL or seat in self._forfeited:
            raise ValueError(f"seat {seat} is not in the deal")
        self._forfeited.append(seat)
        self._hands[seat].clear()
        taken_by = None
        if len(self._forfeited) == self.players - 1:
            self._turn = TERMINAL
        elif seat == self._turn:
            taken_by = self._move_on(seat)
        return TricksEvent(seat=seat, forfeit=True, taken_by=taken_by)

    def _move_on(self, seat: int) -> int | None:
        """Let the next player act, who may be the winner of the trick; return the winner."""
        winner = None
        laid = {seat for _, seat in self._table}
        if all(each in laid or each in self._forfeited for each in range(self.players)):
            winner = max(self._table, key=lambda one: PACK.index(one[0]))[1] if laid else None
            if winner is not None:
                self._taken[winner] += 1
            self._table.clear()
            seat = seat if winner is None else winner - 1
        after = [(seat + step) % self.players for step in range(1, self.players + 1)]
        self._turn = next((each for each in after if self._hands[each]), TERMINAL)
        return winner

    def fallback_action(self) -> str:
        """Lay the lowest card."""
        return self._hands[self._turn][0]

    def hand(self, seat: int) -> list[str]:
        """Return the cards of a player."""
        return list(self._hands[seat])

    def observation(self, seat: int) -> TricksView:
        """Return all that a player may know."""
        return TricksView(
            seat=seat,
            hand=tuple(self._hands[seat]),
            table=tuple(card for card, _ in self._table),
            taken=tuple(self._taken),
        )

    def places(self) -> tuple[int, ...]:
        """Return the place of each seat: by tricks, forfeiters last, the earliest lowest."""
        if self._turn != TERMINAL:
            raise ValueError("the deal is not over")
        ranks = [
            self._forfeited.index(seat) - self.players if seat in self._forfeited else taken
            for seat, taken in enumerate(self._taken)
        ]
        return tuple(1 + sum(other > rank for other in ranks) for rank in ranks)

    def returns(self) -> tuple[float, ...]:
        """Return the points of each seat: its tricks, none for those who forfeited."""
        if self._turn != TERMINAL:
            raise ValueError("the deal is not over")
        return tuple(
            0.0 if seat in self._forfeited else float(taken)
            for seat, taken in enumerate(self._taken)
        )

    def next_start(self) -> int:
        """Return the seat that leads the next deal of a match."""
        return (self._start + 1) % self.players

    def scene(self) -> Scene:
        """Return the position as a neutral picture."""
        seats = tuple(
            SeatView(
                seat=seat,
                cards=len(hand),
                state="forfeited" if seat in self._forfeited else "playing",
                note=f"{self._taken[seat]} taken",
            )
            for seat, hand in enumerate(self._hands)
        )
        hands = [
            Zone("hand", tuple(hand), seat, "owner", "fan") for seat, hand in enumerate(self._hands)
        ]
        table = Zone("table", tuple(card for card, _ in self._table))
        return Scene(seats, (*hands, table), None if self._turn == TERMINAL else self._turn)

    def describe(self, event: TricksEvent) -> str:
        """Return an event in plain English."""
        does = "forfeits" if event.forfeit else f"lays {event.play[0]}"
        end = "" if event.taken_by is None else f"; seat {event.taken_by} takes the trick"
        return f"seat {event.seat} {does}{end}"


class Tricks(Game[TricksOptions, str]):
    """The rule book."""

    name = "tricks"
    title = "Tricks"
    summary = "Everybody lays a card, and the highest one takes the trick. Most tricks win."
    draw_probability = 0.1
    options = TricksOptions
    answer = TricksAnswer
    observation = TricksView
    event = TricksEvent

    def first_start(
        self,
        options: TricksOptions,
        lot: Callable[[], int],
        *,
        duplicate: bool,
    ) -> int:
        """Return who leads the first deal: seat 0 in duplicate deals, else by lot."""
        return 0 if duplicate else lot() % options.players

    def new_state(self, options: TricksOptions, seed: int, start: int | None) -> TricksState:
        """Deal the cards of a seed."""
        return TricksState(options, seed, start or 0)

    def encode(self, action: str) -> str:
        """Return an action as it is stored."""
        return action

    def decode(self, code: str) -> str:
        """Return the action of a stored text."""
        if code not in PACK:
            raise ValueError(f"{code!r} is not a card")
        return code


GAME = Tricks()
"""The object that the entry point names."""
