"""Games of OpenSpiel: ``game: openspiel/NAME``, its parameters as ``rules``.

OpenSpiel (Lanctot et al. 2019, arXiv:1908.09453) accepts illegal action numbers without a word, so
every action is looked up among the legal ones before it is applied. The k-th chance node of a deal
takes the k-th random number of its seed, so that deals can be dealt again.
"""

from __future__ import annotations

from importlib.metadata import version
from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from pydantic import Field, create_model

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

try:
    import pyspiel
except ImportError as error:
    raise ImportError(
        "OpenSpiel is not installed: pip install 'tourney-runner[openspiel]'"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["OpenSpielGame", "OpenSpielState", "make"]

_VERSION = version("open-spiel")
_MOST_LISTED = 1000
_EQUAL = 1e-9
"""Returns that differ by less share a place."""
_SEED_PARAMETER = "rng_seed"


class OpenSpielAnswer(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """One of the legal action numbers."""

    action: int | None = None
    """The number of the action, as OpenSpiel counts them."""


class OpenSpielEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An action as everybody sees it."""

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
    """Whose view it is."""
    turn: int | None
    """The seat to act; null when the deal is over."""
    state: str
    """OpenSpiel's information state of this player as text, or its observation in games that have
    no information states."""
    legal: tuple[int, ...] = ()
    """The legal action numbers of the player to act, in that player's own view."""


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
        self._forfeited: list[int] = []
        self._over = False
        self._history: list[int] = []
        """Actions and, as -1 - seat, forfeits: what the state is rebuilt from."""
        self._settle()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self._rules.name, self._options.model_dump(), self._seed, self._history)

    def clone(self) -> OpenSpielState:
        """Return an independent copy."""
        return _played(OpenSpielState(self._rules, self._options, self._seed), self._history)

    def __deepcopy__(self, memo: Any) -> OpenSpielState:
        return self.clone()

    @property
    def current_player(self) -> int:
        """The seat to act, or `TERMINAL`."""
        if self._over or self._state.is_terminal():
            return TERMINAL
        return int(self._state.current_player())

    def _settle(self) -> None:
        """Let chance act, and those who forfeited, until a player is to be asked."""
        state = self._state
        while not self._over and not state.is_terminal():
            if state.is_chance_node():
                outcomes = sorted(state.chance_outcomes())
                draw = self._chance.random()
                summed = accumulate(chance for _, chance in outcomes)
                # Rounding may leave the sum a little below 1; then the last outcome is meant.
                found = (
                    action
                    for (action, _), until in zip(outcomes, summed, strict=True)
                    if draw < until
                )
                state.apply_action(next(found, outcomes[-1][0]))
            elif state.current_player() in self._forfeited:
                legal = state.legal_actions()
                state.apply_action(legal[int(self._chance.random() * len(legal))])
            else:
                return

    def legal_actions(self, mode: Literal["all", "canonical"] = "all") -> LegalActions[int]:  # noqa: ARG002 - there is one list
        """List the legal action numbers."""
        if self.current_player == TERMINAL:
            return LegalActions(())
        legal = self._state.legal_actions()
        if len(legal) > _MOST_LISTED:
            reason = f"there are {len(legal)} actions; the last are left out"
            return LegalActions(tuple(legal[:_MOST_LISTED]), reason)
        return LegalActions(tuple(legal))

    def read(self, answer: OpenSpielAnswer) -> int:
        """Turn an answer into an action that is legal now."""
        if answer.action is None:
            raise MalformedAnswerError('expected "action" with the number of a legal action')
        if answer.action not in self._state.legal_actions():
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
        if seat == TERMINAL or action not in self._state.legal_actions():
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
        return int(self._state.legal_actions()[0])

    def hand(self, seat: int) -> list[str]:  # noqa: ARG002 - OpenSpiel's states have no hands
        """Return no cards: what a player holds is part of the text of the observation."""
        return []

    def observation(self, seat: int) -> OpenSpielView:
        """Return all that a player may know."""
        turn = self.current_player
        kind = self._rules.kind
        tell = (
            self._state.information_state_string
            if kind.provides_information_state_string
            else self._state.observation_string
        )
        return OpenSpielView(
            seat=seat,
            turn=None if turn == TERMINAL else turn,
            state=tell(seat),
            legal=tuple(self._state.legal_actions()) if seat == turn else (),
        )

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
        """Return the position as OpenSpiel prints it."""
        turn = self.current_player
        seats = tuple(
            SeatView(
                seat=seat,
                cards=0,
                state="forfeited" if seat in self._forfeited else "playing",
            )
            for seat in range(self.players)
        )
        picture = Zone("position", (), note=str(self._state))
        return Scene(seats, (picture,), None if turn == TERMINAL else turn)

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
        kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
        if short_name not in kinds:
            raise ValueError("OpenSpiel has no game of that name")
        self.kind = kind = kinds[short_name]
        if reason := _refusal(kind):
            raise ValueError(reason)
        self.name = f"openspiel/{short_name}"
        self.title = kind.long_name
        self.summary = f"{kind.long_name}, a game of OpenSpiel {_VERSION}."
        self.is_open = (
            kind.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
            and kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
        )
        self.options = _options_of(kind, pyspiel.load_game(short_name).num_players())

    def load(self, options: GameOptions, seed: int) -> Any:
        """Return OpenSpiel's game under these rules, in turns."""
        # Only what differs from the defaults: some of these cannot be given (an empty text for a
        # chess position, for one).
        usual = self.kind.parameter_specification
        parameters = {
            name: value
            for name, value in options.model_dump().items()
            if name in usual and value != usual[name]
        }
        if _SEED_PARAMETER in self.kind.parameter_specification:
            parameters[_SEED_PARAMETER] = seed % (1 << 31)
        game = pyspiel.load_game(self.kind.short_name, parameters)
        if self.kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
            return pyspiel.convert_to_turn_based(game)
        return game

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
    """Return why a game cannot be played in a tournament, if so."""
    game_type = pyspiel.GameType
    reasons = {
        "it is for one player": kind.max_num_players < 2,
        "it is a mean-field game": kind.dynamics == game_type.Dynamics.MEAN_FIELD,
        "all its players get the same": kind.utility == game_type.Utility.IDENTICAL,
        "it is made of another game, which its parameters name": not kind.default_loadable,
        "it draws chance outcomes of its own that no seed repeats": (
            kind.chance_mode == game_type.ChanceMode.SAMPLED_STOCHASTIC
            and _SEED_PARAMETER not in kind.parameter_specification
        ),
        "it shows players neither an information state nor an observation": not (
            kind.provides_information_state_string or kind.provides_observation_string
        ),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _options_of(kind: Any, players: int) -> type[GameOptions]:
    """Return the model of a game's parameters."""
    fields: dict[str, Any] = {
        "players": (int, Field(default=players, ge=players, le=players, description="Players.")),
        "open_spiel": (
            Literal[_VERSION],
            Field(default=_VERSION, description="The version of OpenSpiel that plays."),
        ),
    }
    for name, default in kind.parameter_specification.items():
        if name == _SEED_PARAMETER or not isinstance(default, bool | int | float | str):
            continue
        bounds = (
            {"ge": max(2, kind.min_num_players), "le": kind.max_num_players}
            if name == "players" else {}
        )  # fmt: skip
        description = f"OpenSpiel's parameter {name}."
        fields[name] = (type(default), Field(default=default, description=description, **bounds))
    model: type[GameOptions] = create_model(
        f"{kind.short_name}_options", __base__=GameOptions, **fields
    )
    return model


def _rebuilt(name: str, options: dict[str, Any], seed: int, history: list[int]) -> OpenSpielState:
    rules = make(name.partition("/")[2])
    return _played(OpenSpielState(rules, rules.options.model_validate(options), seed), history)


def _played(state: OpenSpielState, history: list[int]) -> OpenSpielState:
    for step in history:
        if step < 0:
            state.forfeit(-1 - step)
        else:
            state.apply_action(step)
    return state
