"""Ctrl-C before the program can answer it."""

from __future__ import annotations

import signal
from collections.abc import Iterator  # at once: to load `typing` for it takes long, unguarded
from contextlib import contextmanager

__all__ = ["plain_ctrl_c"]


@contextmanager
def plain_ctrl_c() -> Iterator[None]:
    """While modules are imported, Ctrl-C just ends the program.

    Python's exception would show a traceback from the middle of an import, or be lost in one.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
