"""Ctrl-C while modules are imported."""

from __future__ import annotations

import signal
from collections.abc import Iterator  # at run time: importing `typing` takes longer, unguarded
from contextlib import contextmanager

__all__ = ["plain_ctrl_c"]


@contextmanager
def plain_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C simply end the program while modules are imported.

    Python's exception would show a traceback from the middle of an import, or be lost in one.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
