"""The command line: one file per command, each a thin layer over one public function.

Arguments enter. Text for people, JSON for programs and an exit status leave.
"""

from __future__ import annotations

import signal
import sys

from tourney_runner.cli.interrupt import plain_ctrl_c

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit with its status.

    0 done; 2 wrong usage, configuration or bot; 130 and 143 interrupted; 1 anything else.
    """
    if sys.platform == "win32":
        sys.stderr.write("tourney needs Linux or macOS; on Windows, use it inside WSL 2\n")
        sys.exit(2)
    try:
        with plain_ctrl_c():
            from tourney_runner.cli.app import run_app
        status = run_app()
    except KeyboardInterrupt:  # before a command runs, which handles it itself
        status = 128 + signal.SIGINT
    sys.exit(status)
