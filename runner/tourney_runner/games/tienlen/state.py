"""The state of a Tien Len deal in progress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import msgspec

from tourney_runner.games.base import (
    TERMINAL,
    LegalActions,
    MalformedAnswerError,
    Scene,
    SeatView,
    State,
    Zone,
)
from tourney_runner.games.tienlen.cards import (
    BITS,
    CARDS,
    NO_SHAPE,
    PACK,
    SHAPES,
    InstantWin,
    cards_in,
    hand_of,
    instant_win,
    shape_of,
)
from tourney_runner.games.tienlen.move_errors import refused_pass, refused_play
from tourney_runner.games.tienlen.play_generator import plays
from tourney_runner.games.tienlen.rules import Answers, rules_of
from tourney_runner.games.tienlen.views import (
    Table,
    TienlenAnswer,
    TienlenEvent,
    TienlenObservation,
    describe,
)

if TYPE_CHECKING:
    from tourney_runner.games.tienlen.options import TienlenOptions

__all__ = ["PASS", "Position", "TienlenState"]

PASS = 0
"""The action that lays no card."""

_NOTHING: Answers = {}
"""The plays that may be laid when the deal is over."""

# Sets of seats are bits, at most four of them. Both tables are indexed by such a set.
_SEATS = tuple(tuple(seat for seat in range(4) if seats >> seat & 1) for seats in range(16))
_NEXT = tuple(
    tuple(
        next((after % 4 for after in range(seat + 1, seat + 5) if seats >> after % 4 & 1), TERMINAL)
        for seat in range(4)
    )
    for seats in range(16)
)
"""The next seat clockwise in the set (T24). At smaller tables the missing seats are in no set, so
the order is the same."""
_PASSES, _LAST_PASSES = (
    tuple(
        tuple(
            TienlenEvent(seat=seat, pass_=True, cleared=cleared, next=after) for after in range(4)
        )
        for seat in range(4)
    )
    for cleared in (False, True)
)
"""The public events of passes, by seat and by next seat: for passes that leave the trick open, and
for those that end it."""


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """A position in a deal. Hands may be unknown, and numbers of cards need not add up."""

    hands: Sequence[int]
    """The hands by seat, as masks; 0 for an unknown or empty hand."""
    turn: int
    """The seat to act."""
    sizes: Sequence[int] | None = None
    """The number of cards of each seat, if the hands do not show it."""
    table: int = 0
    """The combination to beat; 0 if the player to act leads."""
    owner: int = 0
    """The seat that laid it."""
    passed: Sequence[int] = ()
    """The seats that have passed in this trick."""
    out: Sequence[int] = ()
    """The seats that have gone out, in order."""
    must: int = 0
    """The card that the next play must contain; 0 for none."""


class TienlenState(State[int]):
    """A deal in progress. An action is the mask of the cards laid, or `PASS`.

    The constructor accepts any position without checking it; `dealt` begins a deal.

    Raises:
        ValueError: The table holds cards that are not a combination.
    """

    __slots__ = (
        "_answers",
        "_dealt",
        "_forfeited",
        "_hands",
        "_holding",
        "_left",
        "_must",
        "_options",
        "_out",
        "_owner",
        "_passed",
        "_rules",
        "_shown",
        "_sizes",
        "_sizes_shown",
        "_table",
        "_table_view",
        "_waiting",
        "_win",
        "current_player",
        "players",
    )

    current_player: int
    """The seat to act, or `TERMINAL`. Stored and not computed, since every move reads it often."""

    def __init__(self, options: TienlenOptions, position: Position) -> None:
        hands, sizes = position.hands, position.sizes
        if position.table and shape_of(position.table) == NO_SHAPE:
            raise ValueError(f"{' '.join(cards_in(position.table))} is not a combination")
        self.players = options.players
        self._options = options
        self._rules = rules_of(options)
        self._dealt = tuple(hands)
        self._hands = list(hands)
        self._shown = [hand_of(hand) for hand in hands]
        self._sizes = [hand.bit_count() for hand in hands] if sizes is None else list(sizes)
        self._sizes_shown = tuple(self._sizes)
        self._holding = sum([1 << seat for seat, size in enumerate(self._sizes) if size])
        self._passed = sum([1 << seat for seat in set(position.passed)])
        self._out = tuple(position.out)
        self._forfeited: tuple[int, ...] = ()
        self._left = 0
        self._win: InstantWin | None = None
        self._must = position.must
        self.current_player = position.turn
        self._owner = position.owner
        self._table = position.table
        self._table_view: Table | None = None
        self._answers = self._rules.lead
        if self._table:
            self._table_view, self._answers = self._rules.laid(self._table, self._owner)
        self._waiting = self._holding & ~self._passed & ~(1 << self._owner)
        if self._one_is_left():
            self._end()

    @classmethod
    def dealt(cls, options: TienlenOptions, hands: Sequence[int], start: int | None) -> Self:
        """Begin a deal.

        Args:
            options: The rules.
            hands: The hands by seat as masks.
            start: The seat that leads; None in a first game, which the lowest card opens (H9, T22).
        """
        state = cls(options, Position(hands=hands, turn=0 if start is None else start))
        win = state._win = instant_win(hands, options.instant_wins)
        if win is not None:
            state._out = (win.seat,)
            if options.instant_win_others == "zero":
                state._end()
                return state
            state._leave(win.seat)
            if state._one_is_left():
                state._end()
                return state
        if start is None:
            state._open()
        elif not state._holding >> start & 1:
            state.current_player = _NEXT[state._holding][start]  # T38a
        return state

    def clone(self) -> Self:
        """Return an independent copy."""
        twin = object.__new__(type(self))
        for name in _FIELDS:
            setattr(twin, name, getattr(self, name))
        twin._hands = self._hands[:]
        twin._shown = self._shown[:]
        twin._sizes = self._sizes[:]
        return twin

    def __deepcopy__(self, memo: Any) -> Self:
        return self.clone()

    def __getstate__(self) -> dict[str, Any]:
        # The tables of the rules are shared by all states and looked up when unpickling.
        kept = {name: getattr(self, name) for name in _FIELDS if name not in ("_rules", "_answers")}
        return {**kept, "_answers": None if self._answers is self._rules.lead else self._answers}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        for name, value in kept.items():
            setattr(self, name, value)
        self._rules = rules_of(self._options)
        if kept["_answers"] is None:
            self._answers = self._rules.lead

    @property
    def instant_win(self) -> InstantWin | None:
        """Return the winner if the cards won at once (H24), else None."""
        return self._win

    def legal_actions(self, mode: Literal["all", "canonical"] = "all") -> LegalActions[int]:
        """Return all plays, lowest first within a shape, and passing last."""
        found = plays(self._hands[self.current_player], self._answers, self._must, mode)
        if self._table and self.current_player != TERMINAL:
            found.append(PASS)
        return LegalActions(tuple(found))

    def read(self, answer: TienlenAnswer) -> int:
        """Return the action of an answer if it is legal.

        Raises:
            MalformedAnswerError: It has neither or both of a play and a pass, or an unknown card.
            IllegalActionError: H5, H10, H12 to H14, H16, H18 to H23 or T11 forbids it.
        """
        cards = answer.play
        if answer.pass_:
            if cards is not None:
                raise MalformedAnswerError('both "play" and "pass": one of them is the answer')
            if not self._table:
                raise refused_pass(self._must)
            return PASS
        if not cards:
            raise MalformedAnswerError('neither cards in "play" nor "pass": true')
        action = 0
        try:
            for card in cards:
                action |= BITS[card]
        except KeyError:
            raise MalformedAnswerError(
                f"{card[:20]!r} is not a card; a card is a rank of 3456789TJQKA2 and a suit of SCDH"
            ) from None
        hand = self._hands[self.current_player]
        least = self._answers.get(shape_of(action))
        if (
            least is None
            or action < least
            or action & ~hand
            or (self._must and not action & self._must)
            or action.bit_count() != len(cards)
        ):
            raise refused_play(
                cards, hand=hand, must=self._must, table=self._table, owner=self._owner
            )
        return action

    def write(self, action: int) -> dict[str, Any]:
        """Return the answer for an action, without its id."""
        return {"play": cards_in(action)} if action else {"pass": True}

    def apply_action(self, action: int) -> TienlenEvent:
        """Lay the cards, or pass, and return the public event."""
        seat = self.current_player
        if action:
            return self._play(seat, action)
        self._passed |= 1 << seat
        self._waiting = waiting = self._waiting & ~(1 << seat)
        if waiting:
            self.current_player = after = _NEXT[waiting][seat]
            return _PASSES[seat][after]
        self._clear()
        return _LAST_PASSES[seat][self.current_player]

    def _play(self, seat: int, action: int) -> TienlenEvent:
        table, self._answers = self._rules.laid(action, seat)
        self._table = action
        self._table_view = table
        cards = table.cards
        self._hands[seat] ^= action
        left = self._shown[seat]
        for card in cards:  # mostly one card, for which a filter takes twice as long
            at = left.index(card)
            left = left[:at] + left[at + 1 :]
        self._shown[seat] = left
        sizes = self._sizes
        sizes[seat] = size = sizes[seat] - len(cards)
        self._sizes_shown = tuple(sizes)
        self._must = 0
        self._owner = seat
        self._waiting = waiting = self._holding & ~self._passed & ~(1 << seat)
        if size and waiting:  # nothing ends
            self.current_player = after = _NEXT[waiting][seat]
            return TienlenEvent(seat, cards, next=after)
        place = None
        if not size:
            self._holding &= ~(1 << seat)
            self._out += (seat,)
            place = len(self._out)
        cleared = self._move_on(seat)
        return TienlenEvent(
            seat=seat, play=cards, out=place, cleared=cleared, next=self._seat_to_act()
        )

    def forfeit(self, seat: int) -> TienlenEvent:
        """Take a player out of the deal (T44).

        Raises:
            ValueError: The deal is over, or the player has already left it.
        """
        if self.current_player == TERMINAL or not self._holding >> seat & 1:
            raise ValueError(f"seat {seat} is not in the deal any more")
        self._forfeited += (seat,)
        self._leave(seat)
        cleared = False
        if seat == self.current_player or self._one_is_left():
            cleared = self._move_on(seat)
        return TienlenEvent(seat=seat, forfeit=True, cleared=cleared, next=self._seat_to_act())

    def fallback_action(self) -> int:
        """Return a pass or, when leading, the lowest card or the one that must be played (T45)."""
        if self._table:
            return PASS
        hand = self._hands[self.current_player]
        return self._must or hand & -hand

    def hand(self, seat: int) -> list[str]:
        """Return the cards that a player holds, lowest first."""
        return list(self._shown[seat])

    def observation(self, seat: int) -> TienlenObservation:
        """Return everything that the player at that seat may know."""
        must = self._must
        turn = self.current_player
        return TienlenObservation(  # positional, which takes half as long
            seat,
            self._shown[seat],
            self._table_view,
            self._sizes_shown,
            _SEATS[self._passed],
            self._out,
            self._forfeited,
            None if turn == TERMINAL else turn,
            CARDS[must.bit_length() - 1] if must and seat == turn else None,
            self._win,
        )

    def places(self) -> tuple[int, ...]:
        """Return the place of each seat. If an instant win ends the deal, all others share a place.

        Raises:
            ValueError: The deal is not over.
        """
        order = self._finish()
        if self._won_outright():
            return tuple(1 if seat == order[0] else 2 for seat in range(self.players))
        return tuple([order.index(seat) + 1 for seat in range(self.players)])

    def returns(self) -> tuple[float, ...]:
        """Return the points of each seat (H28, T38, T41). Forfeiters get none (T44).

        Raises:
            ValueError: The deal is not over.
        """
        points = self._options.points_by_place()
        if self._won_outright():
            points = (points[0], 0, 0, 0)
        gone = self._forfeited
        return tuple(
            [0 if seat in gone else points[place - 1] for seat, place in enumerate(self.places())]
        )

    def next_start(self) -> int:
        """Return the seat that leads the next deal: the winner of this one (H26, T39).

        Raises:
            ValueError: The deal is not over.
        """
        return self._finish()[0]

    def scene(self) -> Scene:
        """Return the position as a neutral picture with all cards known."""
        return Scene(
            seats=tuple(self._view_seat(seat) for seat in range(self.players)),
            zones=self._zones(),
            to_move=self._seat_to_act(),
        )

    def opening(self) -> str:
        """Return a line about who leads or has won at once."""
        if self._win is not None:
            return f"seat {self._win.seat} wins at once: {self._win.kind.replace('_', ' ')}"
        return super().opening()

    def describe(self, event: TienlenEvent) -> str:
        """Return a line of plain English about an event."""
        return describe(event)

    def _move_on(self, seat: int) -> bool:
        """Pass the turn on from a player who has acted or left.

        Returns:
            Whether that ended the trick.
        """
        holding = self._holding
        if not holding & holding - 1:
            self._end()
            return False
        if not self._table:
            if self._must:
                self._open()
            else:
                self.current_player = _NEXT[holding][seat]
            return False
        if waiting := self._waiting:
            self.current_player = _NEXT[waiting][seat]
            return False
        self._clear()
        return True

    def _clear(self) -> None:
        """End the trick. The owner leads, or the next player with cards clockwise (T28, T29)."""
        holding, owner = self._holding, self._owner
        self.current_player = owner if holding >> owner & 1 else _NEXT[holding][owner]
        self._passed = self._table = 0
        self._table_view = None
        self._answers = self._rules.lead

    def _open(self) -> None:
        """Let the holder of the lowest card open the deal with it (H9, H10, T22)."""
        lowest = [hand & -hand for hand in self._hands]
        self._must = min(card for card in lowest if card)
        self.current_player = lowest.index(self._must)

    def _leave(self, seat: int) -> None:
        """Take a player's cards out of the deal, face down."""
        self._left |= self._hands[seat]
        self._hands[seat] = 0
        self._shown[seat] = ()
        self._sizes[seat] = 0
        self._sizes_shown = tuple(self._sizes)
        self._holding &= ~(1 << seat)
        self._waiting &= ~(1 << seat)

    def _one_is_left(self) -> bool:
        return not self._holding & self._holding - 1

    def _end(self) -> None:
        self.current_player = TERMINAL
        self._must = 0
        self._answers = _NOTHING

    def _won_outright(self) -> bool:
        """Return whether an instant win ended the deal (T38)."""
        return self._win is not None and self._options.instant_win_others == "zero"

    def _finish(self) -> tuple[int, ...]:
        """Return the seats from first to last (T31, T44), or only the winner after an instant win.

        Raises:
            ValueError: The deal is not over.
        """
        if self.current_player != TERMINAL:
            raise ValueError("the deal is not over")
        if self._won_outright():
            return self._out
        return (*self._out, *_SEATS[self._holding], *reversed(self._forfeited))

    def _seat_to_act(self) -> int | None:
        return None if self.current_player == TERMINAL else self.current_player

    def _view_seat(self, seat: int) -> SeatView:
        state: Literal["playing", "passed", "out", "forfeited"] = "playing"
        place = None
        if seat in self._out:
            state, place = "out", self._out.index(seat) + 1
        elif seat in self._forfeited:
            state, place = "forfeited", self.players - self._forfeited.index(seat)
        elif self._passed >> seat & 1:
            state = "passed"
        if self.current_player == TERMINAL:
            place = self.places()[seat]
        return SeatView(seat=seat, cards=self._sizes[seat], state=state, place=place)

    def _zones(self) -> tuple[Zone, ...]:
        """Return the hands, the table, and the cards that were laid, taken away or not dealt."""
        dealt = held = 0
        for start, hand in zip(self._dealt, self._hands, strict=True):
            dealt |= start
            held |= hand
        table = self._table_view
        zones = [
            Zone("hand", cards, seat, "owner", "fan") for seat, cards in enumerate(self._shown)
        ]
        if table is None:
            zones.append(Zone("table", ()))
        else:
            shape = SHAPES[shape_of(self._table)]
            zones.append(Zone("table", table.cards, note=f"{shape} of seat {table.by}"))
        played = dealt & ~(held | self._left | self._table)
        zones.append(Zone("played", cards_in(played), layout="stack"))
        for name, cards in (("gone", self._left), ("undealt", PACK & ~(dealt | self._table))):
            if cards:
                zones.append(Zone(name, cards_in(cards), shown_to="nobody", layout="stack"))
        return tuple(zones)


_FIELDS = TienlenState.__slots__
