"""Ctrl-C and SIGTERM: out soon, in good order."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Self

from tourney_runner.errors import Interrupted

if TYPE_CHECKING:
    from types import FrameType, TracebackType

__all__ = ["StopSignals"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopSignals:
    """While this context is open, SIGINT and SIGTERM raise `Interrupted`, or wait to be asked for.

    The handlers are installed even where SIGINT was ignored when the program was started, as
    shells do for programs in the background.
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
        """From now on a signal only sets `received`; look at it often."""
        self._deferred = True

    def prompt(self) -> None:
        """From now on a signal raises at once again; one that has come already raises now."""
        self._deferred = False
        self.check()

    def check(self) -> None:
        """Raise `Interrupted` if a signal has come."""
        if self.received is not None:
            raise Interrupted("interrupted", self.received)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self.received is not None:  # the way out has begun; a second Ctrl-C must not cut it off
            return
        self.received = number
        if not self._deferred:
            self.check()
