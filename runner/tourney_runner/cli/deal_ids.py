"""Deals by the names that people have for them."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING

from tourney_runner.errors import UsageError
from tourney_runner.results.records import DealKey
from tourney_runner.results.store import FILE_NAME, Store

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["deal_number", "deal_numbers"]


def deal_numbers(folder: Path, names: Iterable[str]) -> tuple[int, ...]:
    """The numbers of some deals of a folder of results; see `deal_number`."""
    with closing(Store(folder / FILE_NAME)) as store:
        return tuple(deal_number(store, name) for name in names)


def deal_number(store: Store, name: str) -> int:
    """The number of a deal in the order of the schedule, from 1.

    Args:
        store: The results.
        name: That number, or ``ROUND.MATCH.DEAL``, each from 1, as a bot's log has it: while a
            tournament goes on, nobody can know how many deals there will be before one.

    Raises:
        UsageError: There is no such deal.
    """
    if re.fullmatch(r"[0-9]{1,18}", name):
        return int(name)
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9}){2}", name):
        raise UsageError(
            f"{name[:40]!r} names no deal; expected its number, or round.match.deal as in the logs"
        )
    key = DealKey(*(int(part) - 1 for part in name.split(".")))
    number = store.number(key)
    if not number or store.record(number).key != key:
        raise UsageError(f"{store.path}: there is no deal {name}")
    return number
