"""Deals by their numbers on the pages and their names in the logs."""

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
    """Return the numbers of deals in a folder of results; see `deal_number`."""
    with closing(Store(folder / FILE_NAME)) as store:
        return tuple(deal_number(store, name) for name in names)


def deal_number(store: Store, name: str) -> int:
    """Return the number of a deal in schedule order, from 1.

    Args:
        store: The results.
        name: That number, or ``ROUND.MATCH.DEAL``, each from 1, as in a bot's log: during a
            tournament the number of earlier deals is not certain yet.

    Raises:
        UsageError: There is no such deal.
    """
    if re.fullmatch(r"[0-9]{1,18}", name):
        return int(name)
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9}){2}", name):
        raise UsageError(
            f"{name[:40]!r} is not a deal; expected its number, or round.match.deal as in the logs"
        )
    key = DealKey(*(int(part) - 1 for part in name.split(".")))
    number = store.number(key)
    if not number or store.record(number).key != key:
        raise UsageError(f"{store.path}: there is no deal {name}")
    return number
