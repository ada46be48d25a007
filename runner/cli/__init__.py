"""The command line: one command a file, each a thin shell over one public function."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["main", "plain_ctrl_c"]


def main() -> None:
    """Run the command line and end with its exit status.

    0 done; 2 wrong usage, configuration or bot; 130 and 143 interrupted; 1 anything else.
    """
    if sys.platform == "win32":
        sys.stderr.write("tourney needs Linux or macOS; on Windows, use it inside WSL 2\n")
        sys.exit(2)
    with plain_ctrl_c():
        from runner.cli.app import run_app
    sys.exit(run_app())


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
