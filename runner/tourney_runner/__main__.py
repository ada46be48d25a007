"""``python -m tourney_runner``: the command line without its script."""

from __future__ import annotations

from tourney_runner.cli import main

if __name__ == "__main__":
    main()
