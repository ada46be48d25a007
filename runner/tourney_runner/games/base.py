"""The interface of a game, through which the rest of the program uses cards.

The names are those of the field (`current_player`, `legal_actions`, `apply_action`,
`is_terminal`, `returns`). A game is described by one `Game`, and a deal in progress by a `State`.
This module also defines what the rest needs for every game: a model of the options, a fallback
action, the handling of forfeits, and a neutral scene.

An action is a value of the game's own type, as small as possible (an int mask, a tuple). Outside
of the game it has two forms: an *answer*, the JSON that bots write, and a *code*, the compact text
that is stored in results.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeVar

import msgspec
from pydantic import BaseModel, ConfigDict, ValidationError

from tourney_runner.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tourney_runner.games.rule_probes import RuleProbes

__all__ = [
    "TERMINAL",
    "Answer",
    "Game",
    "GameOptions",
    "IllegalActionError",
    "LegalActions",
    "MalformedAnswerError",
    "Scene",
    "SeatEvents",
    "SeatView",
    "State",
    "Zone",
    "seen_by",
    "shuffled",
]


TERMINAL = -1
"""The value of `State.current_player` when the deal is over."""


class MalformedAnswerError(Exception):
    """An answer that is not an action of this game in any position (fault kind ``malformed``)."""


class IllegalActionError(Exception):
    """An action that the rules forbid here (fault kind ``illegal``).

    Args:
        rule: The id of the rule that was broken, such as ``H25`` or ``S13``.
        message: The rule in plain words, for the bot's author.
    """

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(f"{message} [{rule}]")
        self.rule = rule


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A bot's answer: the request's id and, in subclasses, the game's own fields."""

    id: int
    """The number of the request that this answers."""
    debug: str | None = None
    """Free text of the bot, kept with the deal; never read by the program."""


class SeatEvents(msgspec.Struct, frozen=True):
    """An event of which some seats see a version of their own, such as the cards passed to them.

    It counts as one event. Every version has the type `Game.event`.
    """

    public: msgspec.Struct
    """The version for all other seats, for replays and for logs."""
    own: dict[int, msgspec.Struct]
    """The versions for some seats, by seat."""


def seen_by(event: msgspec.Struct, seat: int) -> msgspec.Struct:
    """Return an event as a seat sees it."""
    return event.own.get(seat, event.public) if isinstance(event, SeatEvents) else event


class GameOptions(BaseModel):
    """The rules that an organiser may choose. Each game extends this model.

    Every field has a default and a description (``tourney games GAME`` prints both). The
    combination is checked when the model is built, so a model that exists can be dealt.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    players: int
    """Players at one table."""

    absent: ClassVar[dict[str, Any]] = {}
    """Values of options that older results lack, for rules whose default differs from the behaviour
    before they were added."""

    @classmethod
    def stored(cls, rules: Mapping[str, Any]) -> Self:
        """Return rules that were stored with results, possibly by an older version of the program.

        Args:
            rules: The value of `in_force` at that time. Options added since then are missing.

        Raises:
            UsageError: This version does not support those rules.
        """
        try:
            return cls.model_validate({**cls.absent, **rules})
        except ValidationError as error:
            parts = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
            raise UsageError(
                "these deals were played under rules that this version of tourney does not have"
                f" ({'; '.join(parts)})"
            ) from error

    def in_force(self) -> dict[str, Any]:
        """Return all rules with every value resolved: no ``auto``, no null, no preset."""
        return self.model_dump()

    def points_chosen(self) -> tuple[float, ...]:
        """Return the points by place that an organiser has chosen; empty for the game's own."""
        return ()


ActionT = TypeVar("ActionT")
"""A game's own action type. It must be hashable."""


class LegalActions(msgspec.Struct, Generic[ActionT], frozen=True):
    """The actions open to the player to move."""

    actions: tuple[ActionT, ...]
    left_out: str = ""
    """The reason why actions are left out of the list; empty if it is complete."""

    @property
    def complete(self) -> bool:
        """Return whether no action is left out."""
        return not self.left_out


class State(ABC, Generic[ActionT]):
    """A deal in progress. Only `apply_action` and `forfeit` change it, in place.

    Seats are numbered from 0, clockwise.
    """

    players: int

    @property
    @abstractmethod
    def current_player(self) -> int:
        """Return the seat to act, or `TERMINAL`."""

    @property
    def choosing(self) -> tuple[int, ...]:
        """Return the seats that still have to choose in a round of simultaneous choices.

        It is empty while players act in turn. In a round, `current_player` is the first of these
        seats, and each action removes that seat. `apply_action` returns None until the last seat
        has chosen; then it returns the one event of the round. A seat that forfeits leaves the
        round as well. If it was the last one, `forfeit` returns the event of the round.
        """
        return ()

    def is_terminal(self) -> bool:
        """Return whether the deal is over."""
        return self.current_player == TERMINAL

    @abstractmethod
    def legal_actions(self, mode: Literal["all", "canonical"] = "all") -> LegalActions[ActionT]:
        """Return the legal actions of the player to move.

        Args:
            mode: ``all``, or ``canonical``: one play per kind, length and top card.
        """

    @abstractmethod
    def read(self, answer: Any) -> ActionT:
        """Turn the answer of the player to move into an action that is legal now.

        Args:
            answer: A value of the game's `Game.answer` type.

        Raises:
            MalformedAnswerError: It is not an action (neither play nor pass, or an unknown card).
            IllegalActionError: The rules forbid it here. The message names the rule.
        """

    @abstractmethod
    def write(self, action: ActionT) -> dict[str, Any]:
        """Return the answer for an action, without its id, as lists of legal plays show it."""

    @abstractmethod
    def apply_action(self, action: ActionT) -> msgspec.Struct | None:
        """Apply an action returned by `read` or `legal_actions`.

        Returns:
            The event with its consequences. It contains no card that any player may not know, or
            it is a `SeatEvents` with versions for some seats. None for a simultaneous choice that
            is not the last one of its round; see `choosing`.
        """

    @abstractmethod
    def forfeit(self, seat: int) -> msgspec.Struct:
        """Take a player out of this deal, whether or not it is that player's turn.

        Returns:
            The event, as from `apply_action`. Forfeiters are placed last, the earliest lowest, with
            0 points (T44, S39). A seat that is already out, or a deal that is over, is a
            ValueError.
        """

    @abstractmethod
    def fallback_action(self) -> ActionT:
        """Return a safe legal action for the player to move (T45, S40)."""

    @abstractmethod
    def hand(self, seat: int) -> list[str]:
        """Return the cards that a player holds, in the game's order."""

    @abstractmethod
    def observation(self, seat: int) -> msgspec.Struct:
        """Return everything that a player may know, enough to act without memory."""

    @abstractmethod
    def places(self) -> tuple[int, ...]:
        """Return the place of each seat, from 1, when the deal is over.

        Tied players share the best place of their group: 1, 2, 2, 4.
        """

    @abstractmethod
    def returns(self) -> tuple[float, ...]:
        """Return the points of each seat when the deal is over."""

    @abstractmethod
    def next_start(self) -> int:
        """Return the `start` argument of `Game.new_state` for the next deal of the match."""

    @abstractmethod
    def scene(self) -> Scene:
        """Return the position as a neutral picture with all cards known."""

    def clone(self) -> Self:
        """Return an independent copy, for bots and tools that look ahead."""
        return deepcopy(self)

    def play_out(self, random: Random, most: int = 100_000) -> Self:
        """Play random actions from the short list until the deal is over.

        Args:
            random: The source of the choices.
            most: The number of actions after which it gives up.

        Raises:
            RuntimeError: The deal did not end.
        """
        for _ in range(most):
            if self.is_terminal():
                return self
            self.apply_action(random.choice(self.legal_actions("canonical").actions))
        raise RuntimeError(f"the deal did not end after {most} random actions")

    def opening(self) -> str:
        """Return a line of plain English about the cards just dealt."""
        return f"seat {self.current_player} leads"

    @abstractmethod
    def describe(self, event: Any) -> str:
        """Return a line of plain English about an event of this state, with seats as ``seat 2``.

        The event has the type `Game.event`; it is one version of a `SeatEvents`.
        """

    def log(self, seat: int, event: msgspec.Struct | None) -> str:
        """Return a line for spectators about the result of `apply_action` or `forfeit`.

        Args:
            seat: The seat that acted.
            event: The result.
        """
        if event is None:
            return f"seat {seat} has chosen"
        return self.describe(event.public if isinstance(event, SeatEvents) else event)


OptionsT = TypeVar("OptionsT", bound=GameOptions)


class Game(ABC, Generic[OptionsT, ActionT]):
    """The rules of a game. One stateless instance is registered."""

    # Most games set these in the class, a family of games in each instance.
    name: str
    """The key in configurations: ``tienlen``."""
    title: str
    summary: str
    """Two or three sentences for ``tourney games``."""
    draw_probability: float
    """A small constant for the rating model. It is never 0, since forfeits can tie (see
    ratings)."""
    options: type[GameOptions]
    """The model of the rules that an organiser may choose."""
    answer: type[Answer]
    """The type of bots' answers."""
    observation: type[msgspec.Struct]
    """The return type of `State.observation`."""
    event: type[msgspec.Struct]
    """The return type of `State.apply_action` and `State.forfeit`."""
    rule_case_prefix: str = ""
    """The beginning of the ids of the game's rule cases, before the first ``-``."""
    rule_cases: str = ""
    """The module whose ``check_case(case)`` raises AssertionError if a case does not hold."""

    @abstractmethod
    def first_start(
        self, options: OptionsT, lot: Callable[[], int], *, duplicate: bool
    ) -> int | None:
        """Return the `start` of a match's first deal (T23a).

        Args:
            options: The rules.
            lot: Returns a seed for drawing lots. Called only if the start is drawn.
            duplicate: Whether the deal is played once for each rotation of the seats.
        """

    @abstractmethod
    def new_state(self, options: OptionsT, seed: int, start: int | None) -> State[ActionT]:
        """Deal the cards.

        Args:
            options: The rules.
            seed: Any non-negative int. The same seed always deals the same cards.
            start: The result of `next_start` of the last deal; None in a first game.
        """

    def resample(
        self,
        options: OptionsT,
        view: Any,
        events: Sequence[Any],
        random: Random,
        start: int | None = None,
    ) -> State[ActionT]:
        """Return a state drawn uniformly from those that fit what a seat knows.

        It uses only what that seat has been sent, so a bot can search with it.

        Args:
            options: The rules.
            view: The seat's observation.
            events: All events of the deal so far, as the seat saw them.
            random: The source of the choices.
            start: The `start` of the deal, which all players know.

        Raises:
            NotImplementedError: The game does not offer this.
            ValueError: No state fits the observation and the events.
        """
        raise NotImplementedError(f"{self.name} cannot draw states at random")

    def rule_probes(self) -> RuleProbes[Any] | None:
        """Return the probes with which `tourney check` tests rules; None for random deals only."""
        return None

    @abstractmethod
    def encode(self, action: ActionT) -> str:
        """Return an action as compact text without spaces and without a leading ``!?=``."""

    @abstractmethod
    def decode(self, code: str) -> ActionT:
        """Return the action for a text made by `encode`.

        Raises:
            ValueError: The text is not an action of this game.
        """


class Zone(msgspec.Struct, frozen=True, omit_defaults=True):
    """A group of cards in drawing order (for a stack: bottom to top)."""

    name: str
    """The name for viewers: ``hand``, ``table``, ``pile``, ``reserve`` ..."""
    cards: tuple[str, ...]
    """Card strings such as ``3S``. The viewer shows a back for cards that may not be seen."""
    seat: int | None = None
    """The owner's seat; None for the middle of the table."""
    shown_to: Literal["all", "owner", "nobody"] = "all"
    layout: Literal["fan", "stack", "row"] = "row"
    note: str = ""
    """A short remark, such as the suit that was called."""


class SeatView(msgspec.Struct, frozen=True, omit_defaults=True):
    """The public view of one player."""

    seat: int
    cards: int
    """The number of cards that the player holds."""
    state: Literal["playing", "passed", "out", "forfeited"] = "playing"
    place: int | None = None
    """The finishing place, from 1, once it is certain."""
    note: str = ""


class Scene(msgspec.Struct, frozen=True, omit_defaults=True):
    """A position, ready to be drawn."""

    seats: tuple[SeatView, ...]
    zones: tuple[Zone, ...]
    to_move: int | None


Item = TypeVar("Item")


def shuffled(items: list[Item], seed: int) -> list[Item]:
    """Return a shuffled copy (Fisher-Yates).

    It uses only `Random.random`, the one method whose sequence for a seed Python promises to keep
    between versions.
    """
    draw = Random(seed).random  # noqa: S311 - a deal must be rebuilt from its seed
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        other = int(draw() * (last + 1))
        result[last], result[other] = result[other], result[last]
    return result
