"""What the rules cost: legal plays, and checking and applying one, by game and table.

Figures with ``_ratio`` are multiples of one JSON round trip of a request in the same run.
"""

from __future__ import annotations

import time
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
from figures import report, yardstick
from tourney_runner.games.registry import game

if TYPE_CHECKING:
    import argparse

TABLES = (("tienlen", 4), ("speahx", 4), ("speahx", 14))


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    """All figures of one run."""
    unit = yardstick()
    figures = {"json_round_trip_us": unit}
    for name, players in TABLES:
        costs = _costs(name, players, arguments.moves)
        for what, value in costs.items():
            figures[f"{name}_{players}_{what}"] = value
            if what.endswith("_us"):
                figures[f"{name}_{players}_{what.removesuffix('_us')}_ratio"] = value / unit
    return figures


def _costs(name: str, players: int, moves: int) -> dict[str, float]:
    """Play at random, and time each part of it."""
    rules: Any = game(name)
    options = rules.options(players=players)
    random = Random(1)  # noqa: S311 - the same moves every time
    legal = check = apply = 0.0
    plays = played = deal = 0
    while played < moves:
        state = rules.new_state(options, deal, None)
        deal += 1
        while not state.is_terminal():
            began = time.process_time_ns()
            actions = state.legal_actions().actions
            listed = time.process_time_ns()
            action = random.choice(actions)
            answer = msgspec.convert({"id": 1, **state.write(action)}, rules.answer)
            writing = time.process_time_ns()
            read = state.read(answer)
            checked = time.process_time_ns()
            state.apply_action(read)
            applied = time.process_time_ns()
            legal += listed - began
            check += checked - writing
            apply += applied - checked
            plays += len(actions)
            played += 1
    return {
        "legal_list_us": legal / played / 1e3,
        "legal_plays_per_second": plays / legal * 1e9,
        "check_us": check / played / 1e3,
        "checks_per_second": played / check * 1e9,
        "apply_us": apply / played / 1e3,
    }


if __name__ == "__main__":
    report(measure, __doc__ or "", moves=20_000)
