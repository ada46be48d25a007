"""The cost of the rules by game and table: listing legal plays, checking one, applying one.

Figures with ``_ratio`` are multiples of one JSON round trip of a request in the same run.
"""

from __future__ import annotations

import time
from random import Random
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from figures import report, yardstick
from tourney_runner.games.registry import game

if TYPE_CHECKING:
    import argparse

TABLES = (
    ("tienlen", 4, "all"),
    ("speahx", 4, "all"),
    ("speahx", 4, "canonical"),
    ("speahx", 14, "all"),
    ("speahx", 14, "canonical"),
)


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    """Return all figures of one run."""
    unit = yardstick()
    figures = {"json_round_trip_us": unit}
    for name, players, mode in TABLES:
        costs = _costs(name, players, mode, arguments.moves)
        for what, value in costs.items():
            figures[f"{name}_{players}_{mode}_{what}"] = value
            if what.endswith("_us"):
                figures[f"{name}_{players}_{mode}_{what.removesuffix('_us')}_ratio"] = value / unit
    return figures


def _costs(
    name: str, players: int, mode: Literal["all", "canonical"], moves: int
) -> dict[str, float]:
    """Play at random, and time each part of it."""
    rules: Any = game(name)
    options = rules.options(players=players)
    random = Random(1)  # noqa: S311 - the same moves every time
    lists: list[int] = []
    check = apply = 0
    plays = deal = 0
    while len(lists) < moves:
        state = rules.new_state(options, deal, None)
        deal += 1
        while not state.is_terminal():
            began = time.process_time_ns()
            actions = state.legal_actions(mode).actions
            lists.append(time.process_time_ns() - began)
            action = random.choice(actions)
            answer = msgspec.convert({"id": 1, **state.write(action)}, rules.answer)
            writing = time.process_time_ns()
            read = state.read(answer)
            checked = time.process_time_ns()
            state.apply_action(read)
            check += checked - writing
            apply += time.process_time_ns() - checked
            plays += len(actions)
    played, spent = len(lists), sum(lists)
    lists.sort()
    return {
        "list_us": spent / played / 1e3,
        "list_p99_us": lists[played * 99 // 100] / 1e3,
        "list_longest_us": lists[-1] / 1e3,
        "plays_per_second": plays / spent * 1e9,
        "check_us": check / played / 1e3,
        "checks_per_second": played / check * 1e9,
        "apply_us": apply / played / 1e3,
        "deals_per_second": deal / (spent + check + apply) * 1e9,
    }


if __name__ == "__main__":
    report(measure, __doc__ or "", moves=20_000)
