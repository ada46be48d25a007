"""Games of OpenSpiel: ``game: openspiel/NAME``, its parameters as ``rules``.

OpenSpiel (Lanctot et al. 2019, arXiv:1908.09453) accepts illegal action numbers silently, so every
action is looked up among the legal ones before it is applied. The k-th chance node of a deal takes
the k-th random number of its seed, whatever the players do, so that deals can be dealt again.
Simultaneous games are played in turns; no turn of a round is shown before the round is over.
"""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from importlib.metadata import version
from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import msgspec
from pydantic import ConfigDict, Field, create_model, model_validator

from tourney_runner.games.base import (
    TERMINAL,
    Answer,
    Game,
    GameOptions,
    IllegalActionError,
    LegalActions,
    MalformedAnswerError,
    Scene,
    SeatView,
    State,
    Zone,
)

try:
    import pyspiel
except ImportError as error:
    raise ImportError(
        "OpenSpiel is not installed: pip install '.[openspiel]' in a checkout of tourney, or"
        " pip install 'tourney-runner[openspiel]'"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["OpenSpielGame", "OpenSpielState", "make"]

_VERSION = version("open-spiel")
_MOST_LISTED = 1000
_EQUAL = 1e-9
"""Returns that differ by less share a place."""
_SEED_PARAMETER = "rng_seed"
_GAMES_KEPT = 8
"""The number of loaded games to keep, as loading one takes up to two seconds."""


class OpenSpielAnswer(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """One of the legal action numbers."""

    action: int | None = None
    """The number of the action, as OpenSpiel counts them."""


class OpenSpielEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An action as all players see it."""

    seat: int
    """The player who acted."""
    action: int | None = None
    """The action, in sequential games of perfect information only."""
    text: str | None = None
    """The same in OpenSpiel's words."""
    forfeit: bool = False
    """Whether the player left the deal."""


class OpenSpielView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that one player may know."""

    seat: int
    """The seat of the player who gets this view."""
    turn: int | None
    """The seat to act; null when the deal is over."""
    state: str
    """OpenSpiel's information state of this player as text, or its observation in games that have
    no information states."""
    legal: tuple[int, ...] = ()
    """The legal action numbers of the player to act, in that player's own view."""
    history: tuple[int, ...] | None = None
    """All action numbers of the deal so far, with those of chance, for bots that search. Only in
    sequential games of perfect information."""


class OpenSpielState(State[int]):
    """A deal in progress. An action is a number of OpenSpiel.

    Args:
        rules: The game.
        options: The rules.
        seed: The source of all chance.
    """

    def __init__(self, rules: OpenSpielGame, options: GameOptions, seed: int) -> None:
        self._rules = rules
        self._options = options
        self._seed = seed
        game = rules.load(options, seed)
        self.players = game.num_players()
        self._state = game.new_initial_state()
        self._chance = Random(seed)  # noqa: S311 - a deal must be rebuilt from its seed
        # A stream of its own: the cards must not depend on the time at which a player forfeits.
        self._absent = Random(f"absent {seed}")  # noqa: S311 - the same
        self._forfeited: list[int] = []
        self._over = False
        self._history: list[int] = []
        """Actions and, as -1 - seat, forfeits, from which the state can be rebuilt."""
        self._legal: tuple[int, ...] = ()
        self._settle()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self._rules.name, self._options.model_dump(), self._seed, self._history)

    def clone(self) -> OpenSpielState:
        """Return an independent copy."""
        if self._rules.is_seeded:  # copies of such a state would share its random numbers
            fresh = OpenSpielState(self._rules, self._options, self._seed)
            return _played(fresh, self._history)
        twin = object.__new__(OpenSpielState)
        twin.__dict__.update(self.__dict__)
        twin._state = self._state.clone()
        twin._chance, twin._absent = copy(self._chance), copy(self._absent)
        twin._forfeited, twin._history = self._forfeited[:], self._history[:]
        return twin

    def __deepcopy__(self, memo: Any) -> OpenSpielState:
        return self.clone()

    @property
    def current_player(self) -> int:
        """The seat to act, or `TERMINAL`."""
        if self._over or self._state.is_terminal():
            return TERMINAL
        return int(self._state.current_player())

    def _settle(self) -> None:
        """Apply the actions of chance and of absent players until a player is to be asked."""
        state = self._state
        self._legal = ()
        while not self._over and not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(_outcome(state.chance_outcomes(), self._chance.random()))
                continue
            legal = state.legal_actions()
            if state.current_player() not in self._forfeited:
                self._legal = tuple(legal)
                return
            state.apply_action(legal[int(self._absent.random() * len(legal))])

    def legal_actions(self, mode: Literal["all", "canonical"] = "all") -> LegalActions[int]:  # noqa: ARG002 - there is one list
        """List the legal action numbers."""
        if len(self._legal) > _MOST_LISTED:
            reason = f"there are {len(self._legal)} actions; the last are left out"
            return LegalActions(self._legal[:_MOST_LISTED], reason)
        return LegalActions(self._legal)

    def read(self, answer: OpenSpielAnswer) -> int:
        """Turn an answer into an action that is legal now."""
        if answer.action is None:
            raise MalformedAnswerError('expected "action" with the number of a legal action')
        if answer.action not in self._legal:
            raise IllegalActionError("LEGAL", f"{answer.action} is not one of the legal actions")
        return answer.action

    def write(self, action: int) -> dict[str, Any]:
        """Return the answer that means this action."""
        return {"action": action}

    def apply_action(self, action: int) -> OpenSpielEvent:
        """Apply an action.

        Raises:
            ValueError: It is not legal here.
        """
        seat = self.current_player
        if action not in self._legal:
            raise ValueError(f"{action} is not a legal action here")
        open_action = self._rules.is_open
        text = self._state.action_to_string(seat, action) if open_action else None
        self._state.apply_action(action)
        self._history.append(action)
        self._settle()
        return OpenSpielEvent(seat=seat, action=action if open_action else None, text=text)

    def forfeit(self, seat: int) -> OpenSpielEvent:
        """Take a player out: with two players the deal is over, else legal actions are drawn."""
        if self.current_player == TERMINAL or seat in self._forfeited:
            raise ValueError(f"seat {seat} is not in the deal")
        self._forfeited.append(seat)
        self._history.append(-1 - seat)
        self._over = len(self._forfeited) >= self.players - 1
        self._settle()
        return OpenSpielEvent(seat=seat, forfeit=True)

    def fallback_action(self) -> int:
        """Return the legal action with the lowest number."""
        return self._legal[0]

    def hand(self, seat: int) -> list[str]:  # noqa: ARG002 - OpenSpiel's states have no hands
        """Return no cards: what a player holds is part of the text of the observation."""
        return []

    def observation(self, seat: int) -> OpenSpielView:
        """Return all that a player may know."""
        turn = self.current_player
        return OpenSpielView(
            seat=seat,
            turn=None if turn == TERMINAL else turn,
            state=self._seen_by(seat),
            legal=self._legal if seat == turn else (),
            history=tuple(self._state.history()) if self._rules.is_open else None,
        )

    def _seen_by(self, seat: int) -> str:
        if self._rules.kind.provides_information_state_string:
            return str(self._state.information_state_string(seat))
        return str(self._state.observation_string(seat))

    def _values(self) -> list[float]:
        if self.current_player != TERMINAL:
            raise ValueError("the deal is not over")
        if self._over:  # all but one have forfeited
            return [0.0 if seat in self._forfeited else 1.0 for seat in range(self.players)]
        return [float(value) for value in self._state.returns()]

    def places(self) -> tuple[int, ...]:
        """Return the place of each seat: by returns, forfeiters last, the earliest lowest."""
        values = self._values()
        gone = self._forfeited
        return tuple(
            self.players - gone.index(seat)
            if seat in gone
            else 1 + sum(
                other > value + _EQUAL for one, other in enumerate(values) if one not in gone
            )
            for seat, value in enumerate(values)
        )  # fmt: skip

    def returns(self) -> tuple[float, ...]:
        """Return OpenSpiel's returns; 0 for those who forfeited, 1 for a player left alone."""
        return tuple(
            0.0 if seat in self._forfeited else value for seat, value in enumerate(self._values())
        )

    def next_start(self) -> int:
        """Return 0: OpenSpiel's deals do not depend on each other."""
        return 0

    def scene(self) -> Scene:
        """Return the position as OpenSpiel prints it, or as each player knows it."""
        turn = self.current_player
        seats = tuple(
            SeatView(
                seat=seat,
                cards=0,
                state="forfeited" if seat in self._forfeited else "playing",
            )
            for seat in range(self.players)
        )
        if self._rules.is_open:
            zones = [Zone("position", (), note=str(self._state))]
        else:
            zones = [
                Zone("view", (), seat, "owner", note=self._seen_by(seat))
                for seat in range(self.players)
            ]
        return Scene(seats, tuple(zones), None if turn == TERMINAL else turn)

    def describe(self, event: OpenSpielEvent) -> str:
        """Return an event in plain English."""
        if event.forfeit:
            return f"seat {event.seat} forfeits"
        does = "moved" if event.text is None else f"played {event.text}"
        return f"seat {event.seat} {does}"


class OpenSpielGame(Game[GameOptions, int]):
    """A game of OpenSpiel.

    Args:
        short_name: Its name there.

    Raises:
        ValueError: There is no such game, or it cannot be played in a tournament.
    """

    draw_probability = 0.1
    answer = OpenSpielAnswer
    observation = OpenSpielView
    event = OpenSpielEvent

    def __init__(self, short_name: str) -> None:
        self.kind = kind = _kind(short_name)
        if kind is None:
            raise ValueError("OpenSpiel has no game of that name")
        if reason := _refusal(kind):
            raise ValueError(reason)
        self.name = f"openspiel/{short_name}"
        self.title = kind.long_name
        self.summary = f"{kind.long_name}, a game of OpenSpiel {_VERSION}."
        self.is_open = (
            kind.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
            and kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
        )
        """Whether all players may see all actions."""
        self.is_seeded = _SEED_PARAMETER in kind.parameter_specification
        """Whether the game draws random numbers of its own, from a seed among its parameters."""
        self.options = _options_of(kind)

    def load(self, options: GameOptions, seed: int) -> Any:
        """Return OpenSpiel's game under these rules, in turns."""
        return _load(self.kind, options, seed)

    def first_start(
        self,
        options: GameOptions,  # noqa: ARG002 - the interface's
        lot: Callable[[], int],  # noqa: ARG002
        *,
        duplicate: bool,  # noqa: ARG002
    ) -> int:
        """Return 0: the game decides who begins."""
        return 0

    def new_state(self, options: GameOptions, seed: int, start: int | None) -> OpenSpielState:  # noqa: ARG002 - deals do not depend on each other
        """Begin a deal."""
        return OpenSpielState(self, options, seed)

    def encode(self, action: int) -> str:
        """Return the number as text."""
        return str(action)

    def decode(self, code: str) -> int:
        """Return the number; ValueError where the text is not one."""
        if not code.isdecimal():
            raise ValueError(f"{code[:40]!r} is not an action number")
        return int(code)


def make(short_name: str) -> OpenSpielGame:
    """Return a game of OpenSpiel, for the entry point.

    Raises:
        ValueError: There is no such game, or it cannot be played in a tournament.
    """
    return OpenSpielGame(short_name)


def _refusal(kind: Any) -> str | None:
    """Return the reason why a game cannot be played in a tournament, if there is one."""
    game_type = pyspiel.GameType
    reasons = {
        "it is a mean-field game": kind.dynamics == game_type.Dynamics.MEAN_FIELD,
        "it is for one player": kind.max_num_players < 2,
        "all its players get the same": kind.utility == game_type.Utility.IDENTICAL,
        "it is made from another game or a file": not kind.default_loadable,
        "it draws chance outcomes of its own that no seed repeats": (
            kind.chance_mode == game_type.ChanceMode.SAMPLED_STOCHASTIC
            and _SEED_PARAMETER not in kind.parameter_specification
        ),
        "it shows players neither an information state nor an observation": not (
            kind.provides_information_state_string or kind.provides_observation_string
        ),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


class _Options(GameOptions):
    """Parameters of a game that OpenSpiel accepts."""

    model_config = ConfigDict(strict=True)

    kind: ClassVar[Any]
    """The type of the game."""

    @model_validator(mode="after")
    def _can_be_dealt(self) -> Self:
        try:
            game = _load(self.kind, self, 0)
            game.new_initial_state()
        except (pyspiel.SpielError, ValueError, RuntimeError) as error:
            raise ValueError(f"OpenSpiel refuses these parameters: {error}") from error
        if game.num_players() != self.players:
            raise ValueError(
                f"with these parameters the game is for {game.num_players()} players, expected "
                f"players: {game.num_players()}"
            )
        return self


def _options_of(kind: Any) -> type[GameOptions]:
    """Return the model of a game's parameters."""
    least, most = max(2, kind.min_num_players), kind.max_num_players
    usual = kind.parameter_specification.get("players")
    if not isinstance(usual, int):  # loading some games takes seconds, so only where needed
        usual = pyspiel.load_game(kind.short_name).num_players()
    fields: dict[str, Any] = {
        "players": (
            int,
            Field(default=max(least, usual), ge=least, le=most, description="Players."),
        ),
        "open_spiel": (
            Literal[_VERSION],
            Field(default=_VERSION, description="The version of OpenSpiel that plays."),
        ),
    }
    for name, default in kind.parameter_specification.items():
        if name not in {*fields, _SEED_PARAMETER} and isinstance(default, bool | int | float | str):
            description = f"OpenSpiel's parameter {name}."
            fields[name] = (type(default), Field(default=default, description=description))
    model: type[_Options] = create_model(f"{kind.short_name}_options", __base__=_Options, **fields)
    model.kind = kind
    return model


def _load(kind: Any, options: GameOptions, seed: int) -> Any:
    """Return a game in turns.

    Args:
        kind: The type of the game.
        options: A model of its parameters.
        seed: The seed of a game that draws random numbers of its own.
    """
    # A game with random numbers of its own changes as it is played, so it is never used twice.
    if _SEED_PARAMETER in kind.parameter_specification:
        return _load_new(kind.short_name, options, seed % (1 << 31))
    return _load_once(kind.short_name, options, None)


def _load_new(short_name: str, options: GameOptions, seed: int | None) -> Any:
    usual = _kind(short_name).parameter_specification
    # Only values that differ from the defaults are given, as some defaults cannot be (an empty
    # text for a position of chess, for example).
    parameters = {
        name: value
        for name, value in options.model_dump().items()
        if name in usual and value != usual[name]
    }
    if seed is not None:
        parameters[_SEED_PARAMETER] = seed
    game = pyspiel.load_game(short_name, parameters)
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        return pyspiel.convert_to_turn_based(game)
    return game


_load_once = lru_cache(maxsize=_GAMES_KEPT)(_load_new)


def _kind(short_name: str) -> Any:
    """Return the type of a game; None if there is no game of that name."""
    kinds = pyspiel.registered_games()
    return next((kind for kind in kinds if kind.short_name == short_name), None)


def _outcome(outcomes: list[tuple[int, float]], draw: float) -> int:
    """Return the outcome of a chance node for a number between 0 and 1, by inverse CDF."""
    outcomes = sorted(outcomes)
    summed = accumulate(chance for _, chance in outcomes)
    found = (action for (action, _), until in zip(outcomes, summed, strict=True) if draw < until)
    # Rounding may leave the sum a little below 1; then the last outcome is meant.
    return next(found, outcomes[-1][0])


def _rebuilt(name: str, options: dict[str, Any], seed: int, history: list[int]) -> OpenSpielState:
    rules = make(name.partition("/")[2])
    return _played(OpenSpielState(rules, rules.options.model_validate(options), seed), history)


def _played(state: OpenSpielState, history: list[int]) -> OpenSpielState:
    """Apply a history of actions and forfeits to a fresh state."""
    for step in history:
        if step < 0:
            state.forfeit(-1 - step)
        else:
            state.apply_action(step)
    return state
