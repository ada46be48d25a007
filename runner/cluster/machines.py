"""What is known of the machines of a cluster: which bots start there, and who may play."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runner.run.wire import Check, Checked

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Machine", "broken_everywhere"]


@dataclass
class Machine:
    """One host, on which each bot is started once before anything is played.

    A bot that fails on one host and not on another is not to blame: that host is not used.
    """

    name: str
    unchecked: deque[int] = field(default_factory=deque)
    checked: dict[int, Checked] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while bots are sent and made ready, so that a second worker finds them there."""
    _begun: bool = False
    _entrants: set[int] = field(default_factory=set)

    def begin(self, entrants: Iterable[int], broken: dict[int, str]) -> None:
        """All bots were made ready here, but for those that are broken."""
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
        """A bot to be started here, if one is left."""
        return Check(0, self.unchecked.popleft()) if self.unchecked else None

    @property
    def is_checked(self) -> bool:
        """Whether it is known of all bots how they start here."""
        return self._begun and self.checked.keys() == self._entrants

    @property
    def broken(self) -> set[int]:
        """The bots that do not start here."""
        return {entrant for entrant, outcome in self.checked.items() if outcome.ready is None}


def broken_everywhere(machines: Iterable[Machine]) -> set[int]:
    """The bots that start on none of these machines, of which there is at least one."""
    return set.intersection(*(machine.broken for machine in machines))
