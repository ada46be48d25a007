"""Reproducible random numbers for schedules, in independent streams named by purpose.

Only `Random.random` is used. It is the one method whose sequence for a seed Python guarantees to
keep, so schedules are the same on every machine and Python version.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from random import Random
from typing import TypeVar

__all__ = ["Draw", "below", "choice", "draw", "permutation"]

Item = TypeVar("Item")
Draw = Callable[[], float]
"""A function that returns the next number, from 0 up to but not including 1."""


def draw(seed: int, *purpose: str | int) -> Draw:
    """Return a stream of numbers that is used for one purpose only.

    Args:
        seed: The master seed.
        purpose: The purpose of the numbers; each purpose has an unrelated stream.
    """
    text = "/".join(("schedule", str(seed), *map(str, purpose)))
    state = int.from_bytes(sha256(text.encode()).digest())
    return Random(state).random  # noqa: S311 - schedules must be reproducible from their seed


def below(limit: int, random: Draw) -> int:
    """Return a whole number from 0 to limit - 1."""
    return int(random() * limit)


def choice(items: Sequence[Item], random: Draw) -> Item:
    """Return one of the items."""
    return items[int(random() * len(items))]


def permutation(items: Sequence[Item], random: Draw) -> list[Item]:
    """Return the items in random order (Fisher-Yates)."""
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        other = int(random() * (last + 1))
        result[last], result[other] = result[other], result[last]
    return result
