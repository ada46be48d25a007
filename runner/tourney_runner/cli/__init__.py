"""The command line: one file per command, each a thin layer over one public function.

Arguments enter. Text for people, JSON for programs and an exit status leave.
"""

from __future__ import annotations

import resource
import signal
import sys

from tourney_runner.cli.interrupt import plain_ctrl_c

__all__ = ["main"]

_ADDRESSES = 512 << 20
"""Bytes of address space, below which numpy cannot be loaded."""


def main() -> None:
    """Run the command line and exit with its status.

    0 done; 2 wrong usage, configuration or bot; 130 and 143 interrupted; 1 anything else.
    """
    if sys.platform == "win32":
        sys.stderr.write("tourney needs Linux or macOS; on Windows, use it inside WSL 2\n")
        sys.exit(2)
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most != resource.RLIM_INFINITY and most < _ADDRESSES:
        sys.stderr.write(
            f"tourney: the limit on address space is {most >> 10} KiB, which is too low: raise it "
            f"(ulimit -v {_ADDRESSES >> 10})\n"
        )
        sys.exit(2)
    try:
        with plain_ctrl_c():
            from tourney_runner.cli.app import run_app
        status = run_app()
    except KeyboardInterrupt:  # before a command runs, which handles it itself
        status = 128 + signal.SIGINT
    sys.exit(status)
