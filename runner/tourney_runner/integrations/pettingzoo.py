"""The bundled games as environments of PettingZoo (Terry et al. 2021, arXiv:2009.14471).

Actions and observations are those of `integrations.encoders`, so what an agent learns here plays as
a bot without changes. An episode is one deal.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from tourney_runner.errors import UsageError
from tourney_runner.games.registry import game as find_game
from tourney_runner.integrations.encoders import ENCODERS, encoder

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ImportError as error:
    raise ImportError(
        "PettingZoo is not installed: pip install '.[pettingzoo]' in a checkout of tourney, or"
        " pip install 'tourney-runner[pettingzoo]'"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tourney_runner.games.base import State

__all__ = ["CardGameEnv", "env", "raw_env"]

Reward = Literal["places", "points"]

_ILLEGAL_REWARD = -1.0


def env(
    game: str, *, reward: Reward = "places", render_mode: str | None = None, **rules: Any
) -> Any:
    """Return the environment of a game with PettingZoo's usual checks around it.

    An illegal action ends the episode with a reward of -1 for its agent.

    Args:
        game: ``tienlen`` or ``speahx``.
        reward: See `CardGameEnv`.
        render_mode: ``ansi``, or None.
        rules: The game's options.

    Raises:
        UsageError: There is no such environment.
        ValueError: The options cannot be dealt.
    """
    made: Any = raw_env(game, reward=reward, render_mode=render_mode, **rules)
    made = wrappers.TerminateIllegalWrapper(made, illegal_reward=_ILLEGAL_REWARD)
    made = wrappers.AssertOutOfBoundsWrapper(made)
    return wrappers.OrderEnforcingWrapper(made)


def raw_env(
    game: str, *, reward: Reward = "places", render_mode: str | None = None, **rules: Any
) -> CardGameEnv:
    """Return the environment of a game; see `env` for the arguments. Illegal actions are errors."""
    return CardGameEnv(game, rules, reward=reward, render_mode=render_mode)


class CardGameEnv(AECEnv):
    """A game with one agent a seat, ``seat_0`` and so on.

    Observations are dicts: ``observation``, an array of float32 from 0 to 1, and ``action_mask``,
    an array of int8 with 1 for each legal action number. The mask of an agent that is not to act is
    all 0. All agents stay until the deal is over, also those who are out of cards before.

    Args:
        game: ``tienlen`` or ``speahx``.
        rules: The game's options.
        reward: ``places`` gives, when the deal is over, the share of the other players whom the
            agent beat minus the share of those who beat it. ``points`` gives the game's points.
        render_mode: ``ansi``, or None.

    Raises:
        UsageError: There is no such environment.
        ValueError: The options cannot be dealt.
    """

    def __init__(
        self,
        game: str,
        rules: Mapping[str, Any],
        *,
        reward: Reward = "places",
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        if game not in ENCODERS:
            known = ", ".join(ENCODERS)
            raise UsageError(f"there is no environment of {game!r}; the games are {known}")
        self.metadata = {
            "name": f"{game}_v1",
            "render_modes": ["ansi"],
            "is_parallelizable": False,
        }
        self.render_mode = render_mode
        self._game = find_game(game)
        self._options = self._game.options.model_validate(rules)
        self._encoder = encoder(game, self._options.in_force())
        self._reward = reward
        self.possible_agents = [f"seat_{seat}" for seat in range(self._options.players)]
        self.agents: list[str] = []
        observed = spaces.Box(0.0, 1.0, (self._encoder.size,), np.float32)
        mask = spaces.Box(0, 1, (self._encoder.actions,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": observed, "action_mask": mask})
            for agent in self.possible_agents
        }
        self.action_spaces = {
            agent: spaces.Discrete(self._encoder.actions) for agent in self.possible_agents
        }
        self._deals = Random()  # noqa: S311 - reset(seed=...) seeds it
        self._state: State[Any]
        self._actions: dict[int, Any] = {}

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of an agent's action numbers."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal new cards.

        Args:
            seed: The seed of this deal and all that follow; None to go on with the last one.
            options: ``deal``, the seed of these cards, and ``start``, the arguments of
                `Game.new_state`, for playing a stored deal again.
        """
        if seed is not None:
            self._deals = Random(seed)  # noqa: S311 - episodes must be repeatable
        given = options or {}
        self._state = self._dealt(given.get("deal"), given.get("start"))
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._ask()

    def _dealt(self, seed: int | None, start: int | None) -> State[Any]:
        """Return the deal of a seed or, without one, the next deal that the cards do not decide."""
        while True:
            drawn = self._deals.getrandbits(64) if seed is None else seed
            state = self._game.new_state(self._options, drawn, start)
            if seed is not None or not state.is_terminal():
                return state

    def _ask(self) -> None:
        """Select the agent to act and number its actions."""
        state, seat = self._state, self._state.current_player
        if state.is_terminal():
            self._actions = {}
            places, points = state.places(), state.returns()
            self.rewards = {
                agent: _balance(places, seat) if self._reward == "places" else float(points[seat])
                for seat, agent in enumerate(self.possible_agents)
            }
            self.terminations = dict.fromkeys(self.agents, True)
            return
        self.agent_selection = self.possible_agents[seat]
        view = self._view(seat)
        listed = state.legal_actions("canonical").actions
        numbers = [self._encoder.number(view, state.write(action)) for action in listed]
        self._actions = dict(zip(numbers, listed, strict=True))

    def _view(self, seat: int) -> dict[str, Any]:
        """Return what a player sees, as a bot does."""
        view: dict[str, Any] = msgspec.to_builtins(self._state.observation(seat))
        return view

    def observe(self, agent: str) -> dict[str, Any]:
        """Return the observation of an agent, with the mask of its legal actions."""
        seat = self.possible_agents.index(agent)
        mask = np.zeros(self._encoder.actions, np.int8)
        if seat == self._state.current_player:
            mask[[*self._actions]] = 1
        observed = np.array(self._encoder.observe(self._view(seat)), np.float32)
        return {"observation": observed, "action_mask": mask}

    def action_of(self, number: int) -> Any:
        """Return the game's own action for a legal number; KeyError for any other number."""
        return self._actions[number]

    def step(self, action: int | None) -> None:
        """Play the action with that number for the agent to act; None where its deal is over.

        Raises:
            ValueError: The action is not legal.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None or int(action) not in self._actions:
            raise ValueError(f"{action} is not a legal action, see the action_mask")
        self._state.apply_action(self._actions[int(action)])
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._ask()
        self._accumulate_rewards()

    def render(self) -> str | None:
        """Return the position as text, with all cards; None without the render mode ``ansi``."""
        if self.render_mode != "ansi":
            return None
        scene = self._state.scene()
        return "\n".join(
            f"{zone.name if zone.seat is None else f'seat {zone.seat}, {zone.name}'}: "
            f"{' '.join(zone.cards)}"
            for zone in scene.zones
        )

    def close(self) -> None:
        """Do nothing, as the environment holds no resources."""


def _balance(places: tuple[int, ...], seat: int) -> float:
    """Return the share of others who were beaten minus the share of others who were better."""
    own = places[seat]
    worse = sum(place > own for place in places)
    return (worse - sum(place < own for place in places)) / (len(places) - 1)
