"""Base classes with defaults for everything that a small game need not write itself.

The action of such a game is the answer of a bot, with the id 0. A game of this kind defines its
answer, event and observation, and in its state `deal`, `actions`, `act`, `observation` and
`scores`; see "Writing a game". All other methods can be overridden where the default does not fit.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import msgspec

from tourney_runner.games.base import (
    TERMINAL,
    Answer,
    Game,
    GameOptions,
    IllegalActionError,
    LegalActions,
    Scene,
    SeatEvents,
    SeatView,
    State,
    Zone,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["SimpleEvent", "SimpleGame", "SimpleState"]

_MOST_LISTED = 1000

OptionsT = TypeVar("OptionsT", bound=GameOptions)
AnswerT = TypeVar("AnswerT", bound=Answer)


class SimpleEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One action with its consequences. A game adds its own fields."""

    seat: int | None = None
    """The seat that acted; left out for a round of simultaneous choices."""
    forfeit: bool = False
    """Whether this seat left the deal."""


class SimpleState(State[AnswerT], Generic[OptionsT, AnswerT]):
    """A deal in progress. A game fills in `deal`, `actions`, `act`, `observation` and `scores`.

    Args:
        game: The game.
        options: The rules.
        seed: The seed of all cards.
        start: The seat that begins.
    """

    def __init__(
        self, game: SimpleGame[OptionsT, AnswerT], options: OptionsT, seed: int, start: int
    ) -> None:
        self.game = game
        self.options = options
        self.seed = seed
        self.start = start
        self.players = options.players
        self.turn = start
        """The seat to act. Set it to `TERMINAL` at the end of the deal."""
        self.round: list[int] = []
        """The seats that still choose in a round of simultaneous choices. To begin a round, put
        the seats here; see `resolve`."""
        self.forfeited: list[int] = []
        """The seats that left the deal, in order."""
        self._chosen: dict[int, AnswerT] = {}
        self.deal()

    # To be written for each game

    @abstractmethod
    def deal(self) -> None:
        """Deal the cards of `self.seed` and set up everything else."""

    @abstractmethod
    def actions(self) -> Iterable[AnswerT]:
        """Return the legal actions of `current_player`; make them with `answer`."""

    @abstractmethod
    def act(self, seat: int, action: AnswerT) -> msgspec.Struct:
        """Apply the action of the seat to move, set `turn`, and return the event."""

    @abstractmethod
    def scores(self) -> Sequence[float]:
        """Return the points of each seat. More is better; equal points share a place."""

    # To be overridden where it is needed

    def resolve(self, chosen: dict[int, AnswerT]) -> msgspec.Struct:
        """Apply the choices of a round by seat, set `turn` or `round`, and return the event.

        Seats that forfeited in the round are missing.
        """
        raise NotImplementedError

    def leave(self, seat: int) -> msgspec.Struct:
        """Take a seat out that has just forfeited, and return the event.

        By default the turn passes on if it was its turn.
        """
        if seat == self.turn:
            self.turn = self.next_seat(seat)
        event: msgspec.Struct = self.game.event(seat=seat, forfeit=True)
        return event

    def refusal(self, action: AnswerT) -> str | None:
        """Return the reason why an action is illegal now; None if it is legal."""
        if action in self.actions():
            return None
        return f"{json.dumps(self.write(action))} is not one of the legal actions"

    def hand(self, seat: int) -> list[str]:  # noqa: ARG002 - the default has no cards
        """Return the cards that a player holds; none by default."""
        return []

    def zones(self) -> Iterable[Zone]:
        """Return the cards in the middle of the table, for viewers; none by default."""
        return ()

    def note(self, seat: int) -> str:  # noqa: ARG002 - the default has none
        """Return a short remark about a player, for viewers; empty by default."""
        return ""

    # What the methods above may use

    def answer(self, **fields: Any) -> AnswerT:
        """Return the action with these fields."""
        return self.game.answer(id=0, **fields)  # type: ignore[return-value] # the game's own type

    def playing(self) -> list[int]:
        """Return the seats that have not forfeited."""
        return [seat for seat in range(self.players) if seat not in self.forfeited]

    def next_seat(self, seat: int) -> int:
        """Return the next seat clockwise that has not forfeited."""
        after = [(seat + step) % self.players for step in range(1, self.players + 1)]
        return next(one for one in after if one not in self.forfeited)

    # The interface of `State`

    @property
    def current_player(self) -> int:
        """Return the seat to act, or `TERMINAL`."""
        return self.round[0] if self.round else self.turn

    @property
    def choosing(self) -> tuple[int, ...]:
        """Return the seats that still choose in a round; see `State.choosing`."""
        return tuple(self.round)

    def legal_actions(self, mode: Literal["all", "canonical"] = "all") -> LegalActions[AnswerT]:  # noqa: ARG002 - there is one list
        """Return the legal actions; the first thousand of a longer list."""
        if self.is_terminal():
            return LegalActions(())
        found = tuple(self.actions())
        if len(found) > _MOST_LISTED:
            reason = f"there are {len(found)} actions; the last are left out"
            return LegalActions(found[:_MOST_LISTED], reason)
        return LegalActions(found)

    def read(self, answer: AnswerT) -> AnswerT:
        """Return the action of an answer; raise IllegalActionError if `refusal` has a reason."""
        action = msgspec.structs.replace(answer, id=0, debug=None)
        if reason := self.refusal(action):
            raise IllegalActionError("RULES", reason)
        return action

    def write(self, action: AnswerT) -> dict[str, Any]:
        """Return the answer for an action, without its id."""
        return _fields(action)

    def apply_action(self, action: AnswerT) -> msgspec.Struct | None:
        """Apply an action and return the event; None within a round."""
        seat = self.current_player
        if not self.round:
            return self.act(seat, action)
        self.round.pop(0)
        self._chosen[seat] = action
        return None if self.round else self._resolved()

    def _resolved(self) -> msgspec.Struct:
        chosen, self._chosen = self._chosen, {}
        return self.resolve(chosen)

    def forfeit(self, seat: int) -> msgspec.Struct:
        """Take a player out of the deal, which is over when one is left.

        Raises:
            ValueError: The deal is over, or the seat has left it.
        """
        if self.is_terminal() or seat in self.forfeited:
            raise ValueError(f"seat {seat} is not in the deal")
        self.forfeited.append(seat)
        in_round = seat in self.round
        if in_round:
            self.round.remove(seat)
        event = self.leave(seat)
        if len(self.forfeited) == self.players - 1:
            self.turn = TERMINAL
            self.round.clear()
        elif in_round and not self.round:
            event = _marked(self._resolved(), seat)
        return event

    def fallback_action(self) -> AnswerT:
        """Return the first legal action."""
        return next(iter(self.actions()))

    def places(self) -> tuple[int, ...]:
        """Return the place of each seat: by scores, forfeiters last, the earliest lowest."""
        ranks = [
            (1.0, float(score)) if seat in self.playing()
            else (0.0, float(self.forfeited.index(seat)))
            for seat, score in enumerate(self._final())
        ]  # fmt: skip
        return tuple(1 + sum(other > rank for other in ranks) for rank in ranks)

    def returns(self) -> tuple[float, ...]:
        """Return the scores of all seats, 0 for those who forfeited."""
        return tuple(
            0.0 if seat in self.forfeited else float(score)
            for seat, score in enumerate(self._final())
        )

    def _final(self) -> Sequence[float]:
        if not self.is_terminal():
            raise ValueError("the deal is not over")
        return self.scores()

    def next_start(self) -> int:
        """Return the seat that begins the next deal: the next one clockwise."""
        return (self.start + 1) % self.players

    def scene(self) -> Scene:
        """Return the position as a neutral picture: hands, `zones` and notes."""
        seats, hands = [], []
        for seat in range(self.players):
            cards = tuple(self.hand(seat))
            state: Literal["playing", "forfeited"] = (
                "forfeited" if seat in self.forfeited else "playing"
            )
            seats.append(SeatView(seat, len(cards), state, note=self.note(seat)))
            if cards:
                hands.append(Zone("hand", cards, seat, "owner", "fan"))
        turn = None if self.is_terminal() else self.current_player
        return Scene(tuple(seats), (*hands, *self.zones()), turn)

    def describe(self, event: Any) -> str:
        """Return an event in plain English, from the names and values of its fields."""
        fields = msgspec.to_builtins(event)
        who = f"seat {fields.pop('seat')}" if "seat" in fields else "the round"
        if fields.pop("forfeit", False):
            who += " forfeits"
        words = (f"{name.replace('_', ' ')} {_text(value)}" for name, value in fields.items())
        rest = ", ".join(words)
        return f"{who}: {rest}" if rest else who


class SimpleGame(Game[OptionsT, AnswerT]):
    """A game with the defaults. A game sets the attributes of `Game` and `state`."""

    draw_probability = 0.1
    state: type[SimpleState[Any, Any]]
    """The class of the deals."""

    def first_start(self, options: OptionsT, lot: Callable[[], int], *, duplicate: bool) -> int:
        """Return the seat that begins the first deal: 0 in duplicate deals, else by lot."""
        return 0 if duplicate else lot() % options.players

    def new_state(
        self, options: OptionsT, seed: int, start: int | None
    ) -> SimpleState[OptionsT, AnswerT]:
        """Deal the cards of a seed."""
        return self.state(self, options, seed, start or 0)

    def encode(self, action: AnswerT) -> str:
        """Return the fields of the answer as JSON without blanks."""
        written = json.dumps(_fields(action), separators=(",", ":"))
        return written.replace(" ", "\\u0020")

    def decode(self, code: str) -> AnswerT:
        """Return the action of a stored text.

        Raises:
            ValueError: The text is not an answer of this game.
        """
        try:
            return msgspec.convert({"id": 0, **json.loads(code)}, self.answer)  # type: ignore[return-value] # the game's own type
        except (TypeError, msgspec.ValidationError) as error:
            raise ValueError(f"{code[:100]!r} is not an answer of {self.name}: {error}") from error


def _fields(action: Answer) -> dict[str, Any]:
    """Return the fields of an answer that are the game's own."""
    fields: dict[str, Any] = msgspec.to_builtins(action)
    return {name: value for name, value in fields.items() if name not in ("id", "debug")}


def _marked(event: msgspec.Struct, seat: int) -> msgspec.Struct:
    """Return the event of a round that a forfeit has closed."""
    if isinstance(event, SeatEvents):
        own = {number: _marked(version, seat) for number, version in event.own.items()}
        return SeatEvents(_marked(event.public, seat), own)
    return msgspec.structs.replace(event, seat=seat, forfeit=True)


def _text(value: Any) -> str:
    """Return a value of a field in words."""
    if isinstance(value, list | tuple):
        return " ".join(map(_text, value))
    return value if isinstance(value, str) else json.dumps(value)
