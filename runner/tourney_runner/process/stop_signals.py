"""Handling of Ctrl-C and SIGTERM: a quick and orderly end."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Self

from tourney_runner.errors import Interrupted

if TYPE_CHECKING:
    from types import FrameType, TracebackType

__all__ = ["StopSignals"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopSignals:
    """A context in which SIGINT and SIGTERM raise `Interrupted`, at once or on `check`.

    The handlers replace an inherited SIG_IGN, which shells set for background programs.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._deferred = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            self._before[number] = signal.getsignal(number)
            signal.signal(number, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type] # as getsignal gave it

    def defer(self) -> None:
        """Let signals only set `received` from now on; call `check` often."""
        self._deferred = True

    def prompt(self) -> None:
        """Let signals raise at once again; a signal that has come already raises now."""
        self._deferred = False
        self.check()

    def check(self) -> None:
        """Raise `Interrupted` if a signal has come."""
        if self.received is not None:
            raise Interrupted("interrupted", self.received)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self.received is not None:  # a second Ctrl-C must not interrupt the orderly end
            return
        self.received = number
        if not self._deferred:
            self.check()
