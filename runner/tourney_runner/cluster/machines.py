"""The machines of a cluster, and the bots that start on each."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tourney_runner.run.worker_process import Check, Checked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Machine", "Machines"]


@dataclass
class Machine:
    """One host, on which each bot is started once before anything is played.

    A bot that fails on one host and not on another is not to blame: that host is not used.
    """

    address: str
    unchecked: deque[int] = field(default_factory=deque)
    checked: dict[int, Checked] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """A lock that is held while bots are sent and staged, so that another worker waits for them."""
    members: int = 0
    """The number of its Dask workers in this run."""
    _begun: bool = False
    _entrants: set[int] = field(default_factory=set)

    def begin(self, entrants: Iterable[int], broken: dict[int, str]) -> None:
        """Queue the checks of all bots that were staged here; broken ones have failed already."""
        if self._begun:
            return
        self._begun = True
        for entrant in entrants:
            self._entrants.add(entrant)
            if entrant in broken:
                self.checked[entrant] = Checked(0, entrant, None, broken[entrant])
            else:
                self.unchecked.append(entrant)

    def next_check(self) -> Check | None:
        """Return the next check of a bot here, if one is left."""
        return Check(0, self.unchecked.popleft()) if self.unchecked else None

    @property
    def is_checked(self) -> bool:
        """True if all bots were checked here."""
        return self._begun and self.checked.keys() == self._entrants

    @property
    def broken(self) -> set[int]:
        """The bots that do not start here."""
        return {entrant for entrant, outcome in self.checked.items() if outcome.ready is None}


class Machines:
    """All hosts that were ever part of the cluster.

    Args:
        entrants: The bots, by number.
    """

    def __init__(self, entrants: Iterable[int]) -> None:
        self._entrants = tuple(entrants)
        self._by_host: dict[str, Machine] = {}
        self.starts: dict[int, Checked] | None = None
        """The result of each bot's check on the cluster, once that is decided."""

    def on(self, host: str) -> Machine:
        """Return the machine of an address."""
        return self._by_host.setdefault(host, Machine(host))

    @property
    def there(self) -> list[Machine]:
        """The machines with workers in this run now."""
        return [machine for machine in self._by_host.values() if machine.members]

    def decide(self) -> None:
        """Decide which bots start at all, once all were checked on all machines that are there."""
        there = self.there
        if self.starts is None and all(machine.is_checked for machine in there):
            self.starts = {entrant: _start(entrant, there) for entrant in self._entrants}

    def odd_one(self, machine: Machine) -> Checked | None:
        """Return the failed check of a bot that starts elsewhere, or None."""
        starts = self.starts or {}
        odd = [at for at in machine.broken if starts[at].ready is not None]
        return machine.checked[min(odd)] if odd else None


def _start(entrant: int, machines: Sequence[Machine]) -> Checked:
    """Return a bot's successful check, else its check on the machine with the fewest failures."""
    best = min(machines, key=lambda machine: len(machine.broken))
    outcomes = [machine.checked[entrant] for machine in (best, *machines)]
    return next((one for one in outcomes if one.ready is not None), outcomes[0])
