"""Chance in schedules: the same on every machine and Python version, and named by its use.

Only `Random.random` is drawn on, the one method whose sequence for a seed Python promises to
keep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from random import Random
from typing import TypeVar

__all__ = ["Draw", "below", "choice", "draw", "permutation"]

Item = TypeVar("Item")
Draw = Callable[[], float]
"""Gives the next number from 0 up to, but not including, 1."""


def draw(seed: int, *purpose: str | int) -> Draw:
    """A stream of numbers that nothing else in the tournament uses.

    Args:
        seed: The master seed.
        purpose: What the numbers are for; another purpose gives an unrelated stream.
    """
    text = "/".join(("schedule", str(seed), *map(str, purpose)))
    state = int.from_bytes(sha256(text.encode()).digest())
    return Random(state).random  # noqa: S311 - a schedule must come out again from its seed


def below(limit: int, random: Draw) -> int:
    """A whole number from 0 to limit - 1."""
    return int(random() * limit)


def choice(items: Sequence[Item], random: Draw) -> Item:
    """One of the items."""
    return items[int(random() * len(items))]


def permutation(items: Sequence[Item], random: Draw) -> list[Item]:
    """The items in another order (Fisher-Yates)."""
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        other = int(random() * (last + 1))
        result[last], result[other] = result[other], result[last]
    return result
