"""``python -m runner.cli``: the command line without its script."""

from __future__ import annotations

from runner.cli import main

if __name__ == "__main__":
    main()
