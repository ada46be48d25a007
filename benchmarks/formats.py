"""Measure how well each format finds the best bot, at equal cost.

Bots have fixed skills and luck of one unit a deal; the same skills are played in each format, with
the same number of deals, and the table is ranked by order-free ratings over all of them.

    python benchmarks/formats.py [TRIALS]
"""

from __future__ import annotations

import sys
from random import Random
from time import process_time

import numpy as np
from tourney_runner.ratings.model import Model
from tourney_runner.ratings.order_free import fit
from tourney_runner.schedule.base import Field, RoundResult
from tourney_runner.schedule.registry import format_class, make

BOTS, PLAYERS, SPREAD = 24, 4, 0.7
"""The spread of skills is in units of the luck of one deal."""
CASES = {
    "ladder": ("ladder", {"rounds": 80}),
    "round robin as the ladder": ("round-robin", {"rounds": 10}),
    "swiss": ("swiss", {"rounds": 6, "games": 3}),
    "round robin as the swiss": ("round-robin", {"rounds": 5}),
}


def play(kind: str, options: dict[str, int], seed: int, skills: list[float]) -> tuple[int, float]:
    """Play a tournament; return the winner and the root mean square error, in units of luck."""
    field = Field(entrants=BOTS, players=PLAYERS, seed=seed)
    planned = make(kind, field, format_class(kind).options(**options))
    luck = Random(seed)  # noqa: S311 - a simulation
    finished: list[RoundResult] = []
    deals: list[list[int]] = []
    while (tables := planned.plan(len(finished), finished)) is not None:
        seatings = [table.seating for table in tables]
        orders = [
            sorted(seating, key=lambda one: skills[one] + luck.gauss(0, 1), reverse=True)
            for seating in seatings
        ]
        deals += orders
        finished.append(result(len(finished), seatings, orders))
    model = Model()
    mu = np.array([one.mu for one in fit(model, BOTS, {PLAYERS: np.array(deals)}).ratings()])
    error = (mu - mu.mean()) / model.beta - (np.array(skills) - np.mean(skills))
    return int(np.argmax(mu)), float(np.sqrt(np.mean(error**2)))


def result(number: int, tables: list[tuple[int, ...]], orders: list[list[int]]) -> RoundResult:
    """Return a round as formats see it."""
    points: dict[int, float] = {}
    places: dict[int, list[int]] = {}
    for order in orders:
        for place, entrant in enumerate(order, 1):
            points[entrant] = points.get(entrant, 0.0) + PLAYERS - place
            places.setdefault(entrant, []).append(place)
    means = {entrant: sum(all_) / len(all_) for entrant, all_ in places.items()}
    return RoundResult(round=number, points=points, places=means, tables=tuple(tables))


def main() -> None:
    """Print a line for each case."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000
    for title, (kind, options) in CASES.items():
        began = process_time()
        best, errors = 0, 0.0
        for seed in range(trials):
            drawn = Random(f"skills {seed}")  # noqa: S311 - a simulation
            skills = [drawn.gauss(0, SPREAD) for _ in range(BOTS)]
            winner, error = play(kind, options, seed, skills)
            best += skills[winner] == max(skills)
            errors += error
        print(
            f"{title:27} best bot first {best / trials:.3f}, rms error {errors / trials:.3f},"
            f" {(process_time() - began) / trials:.3f} s each",
            flush=True,
        )


if __name__ == "__main__":
    main()
