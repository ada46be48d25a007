"""The interface of a game: all that the rest of the program knows of cards.

The names are those of the field (`current_player`, `legal_actions`, `apply_action`,
`is_terminal`, `returns`). A game describes itself once, as a `Game`; a deal in progress is a
`State`. What the rest needs without asking which game it is stands here too: a model of the
options, a fallback action, what happens when a player forfeits, a neutral scene.

An action is a value of the game's own, as small as it likes (an int mask, a tuple). It crosses
the border in two forms: as an *answer*, the JSON that bots write, and as a *code*, the compact
text that results are stored in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeVar

import msgspec
from pydantic import BaseModel, ConfigDict, ValidationError

from tourney_runner.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from tourney_runner.games.rule_probes import RuleProbes
    from tourney_runner.games.scene import Scene

__all__ = [
    "TERMINAL",
    "Answer",
    "Game",
    "GameOptions",
    "IllegalActionError",
    "LegalActions",
    "MalformedAnswerError",
    "State",
]

TERMINAL = -1
"""What `State.current_player` gives when the deal is over."""


class MalformedAnswerError(Exception):
    """An answer that is no action of this game in any position (fault kind ``malformed``)."""


class IllegalActionError(Exception):
    """An action that the rules forbid here (fault kind ``illegal``).

    Args:
        rule: The id of the rule that was broken, such as ``H25`` or ``S13``.
        message: The rule in plain words, for the author of the bot.
    """

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(f"{message} [{rule}]")
        self.rule = rule


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What a bot writes back: the request's id, and in subclasses the game's own fields."""

    id: int
    """The number of the request that this answers."""
    debug: str | None = None
    """Free text of the bot, kept with the deal; never read by the program."""


class GameOptions(BaseModel):
    """The rules that an organiser may choose; each game extends it.

    Every field has a default and a description (``tourney games GAME`` prints both). The
    combination is checked when the model is built, so a model that exists can be dealt.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    players: int
    """Players at one table."""

    absent: ClassVar[dict[str, Any]] = {}
    """Values that older results stand for by lacking an option: where a rule was added whose
    default is not the behaviour of the versions before it."""

    @classmethod
    def stored(cls, rules: Mapping[str, Any]) -> Self:
        """Read rules that a version of the program stored with its results.

        Args:
            rules: What `in_force` gave then; options that were added since are missing.

        Raises:
            UsageError: This version does not have those rules.
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
        """All rules with nothing left to be worked out: no ``auto``, no null, no preset."""
        return self.model_dump()

    def points_chosen(self) -> tuple[float, ...]:
        """Return the points of each place that an organiser has chosen; none if the game's hold."""
        return ()


ActionT = TypeVar("ActionT")
"""A game's own action type; must be hashable."""


class LegalActions(msgspec.Struct, Generic[ActionT], frozen=True):
    """The actions open to the player to move."""

    actions: tuple[ActionT, ...]
    left_out: str = ""
    """Why actions are left out of the list; empty where it is complete."""

    @property
    def complete(self) -> bool:
        """Whether nothing is left out."""
        return not self.left_out


class State(ABC, Generic[ActionT]):
    """A deal in progress. It changes in place; `apply_action` and `forfeit` are the only ways.

    Seats are numbered from 0, clockwise.
    """

    players: int

    @property
    @abstractmethod
    def current_player(self) -> int:
        """The seat to act, or `TERMINAL`."""

    def is_terminal(self) -> bool:
        """Whether the deal is over."""
        return self.current_player == TERMINAL

    @abstractmethod
    def legal_actions(self, mode: Literal["all", "canonical"] = "all") -> LegalActions[ActionT]:
        """What the player to move may do.

        Args:
            mode: ``all``, or ``canonical``: one play per kind, length and top card.
        """

    @abstractmethod
    def read(self, answer: Any) -> ActionT:
        """Turn the answer of the player to move into an action that is legal now.

        Args:
            answer: A value of the game's `Game.answer` type.

        Raises:
            MalformedAnswerError: It is no action at all (no play and no pass, no such card).
            IllegalActionError: The rules forbid it here; the message names the rule.
        """

    @abstractmethod
    def write(self, action: ActionT) -> dict[str, Any]:
        """The answer that means this action, without its id: what bots are shown as legal."""

    @abstractmethod
    def apply_action(self, action: ActionT) -> msgspec.Struct:
        """Play an action that `read` or `legal_actions` gave.

        Returns:
            The event as everybody at the table sees it, with its consequences. It holds no card
            that any player may not know.
        """

    @abstractmethod
    def forfeit(self, seat: int) -> msgspec.Struct:
        """Take a player out of this deal, whether or not it is his turn.

        Returns:
            The public event. Forfeiters are placed last, the earlier the lower, with 0 points
            (T44, S39). A seat that is already out, or a deal that is over, is a ValueError.
        """

    @abstractmethod
    def fallback_action(self) -> ActionT:
        """A safe legal action for the player to move (T45, S40)."""

    @abstractmethod
    def hand(self, seat: int) -> list[str]:
        """The cards that a player holds, sorted as the game sorts them."""

    @abstractmethod
    def observation(self, seat: int) -> msgspec.Struct:
        """All that a player may know of the position, enough to act without memory."""

    @abstractmethod
    def places(self) -> tuple[int, ...]:
        """The place of each seat, from 1, when the deal is over.

        Tied players share the best place of their group: 1, 2, 2, 4.
        """

    @abstractmethod
    def returns(self) -> tuple[float, ...]:
        """The points of each seat when the deal is over."""

    @abstractmethod
    def next_start(self) -> int:
        """What `Game.new_state` takes as `start` for the next deal of the same match."""

    @abstractmethod
    def scene(self) -> Scene:
        """The position as a neutral picture, all cards known."""

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
        """One line of plain English for the cards as they have just been dealt."""
        return f"seat {self.current_player} leads"

    @abstractmethod
    def describe(self, event: Any) -> str:
        """One line of plain English for an event that this state gave; seats as ``seat 2``."""


OptionsT = TypeVar("OptionsT", bound=GameOptions)


class Game(ABC, Generic[OptionsT, ActionT]):
    """A game's rule book. One instance, without state, is its entry in the registry."""

    # Most games set these in the class, a family of games in each instance.
    name: str
    """The key in configurations: ``tienlen``."""
    title: str
    summary: str
    """Two or three sentences for ``tourney games``."""
    draw_probability: float
    """A small constant for the rating's model; never 0, since forfeits can tie (see ratings)."""
    options: type[GameOptions]
    """The model of the rules that an organiser may choose."""
    answer: type[Answer]
    """The type of what bots answer."""
    observation: type[msgspec.Struct]
    """The type of what `State.observation` returns."""
    event: type[msgspec.Struct]
    """The type of what `State.apply_action` and `State.forfeit` return."""
    rule_case_prefix: str = ""
    """The beginning of the ids of the game's rule cases, before the first ``-``."""
    rule_cases: str = ""
    """The module whose ``check_case(case)`` raises AssertionError where one does not hold."""

    @abstractmethod
    def first_start(
        self, options: OptionsT, lot: Callable[[], int], *, duplicate: bool
    ) -> int | None:
        """The `start` of a match's first deal (T23a).

        Args:
            options: The rules.
            lot: Gives a seed to draw from; called only where it is by lot.
            duplicate: Whether the deal is played once a rotation of the seats.
        """

    @abstractmethod
    def new_state(self, options: OptionsT, seed: int, start: int | None) -> State[ActionT]:
        """Deal the cards.

        Args:
            options: The rules.
            seed: Any non-negative int; the same seed always deals the same cards.
            start: What the previous deal hands on (who leads, who deals); None in a first game.
        """

    def rule_probes(self) -> RuleProbes[Any] | None:
        """Return what `tourney check` leads bots to the rules with; None for random deals only."""
        return None

    @abstractmethod
    def encode(self, action: ActionT) -> str:
        """An action as compact text without spaces and without a leading ``!`` or ``?``."""

    @abstractmethod
    def decode(self, code: str) -> ActionT:
        """The reverse of `encode`.

        Raises:
            ValueError: The text is no action of this game.
        """
