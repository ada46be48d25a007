"""OpenSpiel's Monte Carlo tree search, for its sequential games of perfect information.

The argument is the number of simulations for each move. The package `open-spiel` must be installed.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import pyspiel
from tourney_bot import Answer, Turn, run

UCT_C = 2.0
MEMORY_MB = 100
SIMULATIONS = int(sys.argv[1])


@cache
def load(name: str, rules: tuple[tuple[str, Any], ...]) -> Any:
    """Return the game of these rules."""
    short_name = name.partition("/")[2]
    [kind] = [kind for kind in pyspiel.registered_games() if kind.short_name == short_name]
    usual = kind.parameter_specification
    return pyspiel.load_game(
        short_name,
        {key: value for key, value in rules if key in usual and value != usual[key]},
    )


def choose(turn: Turn) -> Answer:
    """Return the action that a search from the present position finds."""
    history = turn.view.get("history")
    if history is None:
        sys.exit("this bot plays sequential games of perfect information only")
    game = load(turn.game, tuple(turn.rules.items()))
    state = game.new_initial_state()
    for action in history:
        state.apply_action(action)
    seed = turn.random.getrandbits(31)
    search = pyspiel.MCTSBot(
        game=game,
        evaluator=pyspiel.RandomRolloutEvaluator(n_rollouts=1, seed=seed),
        uct_c=UCT_C,
        max_simulations=SIMULATIONS,
        max_memory_mb=MEMORY_MB,
        solve=True,
        seed=seed,
        verbose=False,
    )
    return {"action": search.step(state)}


run(choose, name="openspiel-mcts")
